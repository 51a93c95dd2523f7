"""Run one session: `python -I -m runner`, told by the environment what to do.

Many may start at once on a small machine, so what Python does before and after the
work is cut short here; the work itself is `runner.job`.
"""

import contextlib
import gc
import os
import sys
from typing import Any, NoReturn


def main() -> NoReturn:
    """Run the session and end with its status."""
    gc.disable()  # nothing that loads is garbage, and looking takes 5 ms
    # msgspec takes the same from typing where this is missing, and saves 8 ms.
    modules: dict[str, Any] = sys.modules
    modules["typing_extensions"] = None
    import msgspec  # noqa: F401  at once, for others find all that is installed

    del modules["typing_extensions"]
    from runner.job import run

    gc.freeze()  # and a fork shares what nobody visits
    gc.enable()
    status = run()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):  # nobody listens any more
            stream.flush()
    os._exit(status)  # to take it all down again takes 20 ms


if __name__ == "__main__":
    main()
