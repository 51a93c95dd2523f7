"""Run one session: `python -I -m runner`; the environment says which.

Many sessions may start at once on a small machine, so this module shortens Python's
start and exit. The work itself is in `runner.session.job`.
"""

import contextlib
import gc
import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the session and end with its status."""
    gc.disable()  # loading makes no garbage
    from runner.session.job import run

    gc.freeze()  # a forked process shares memory that the collector leaves alone
    gc.enable()
    status = run()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):  # the reader of our output has gone
            stream.flush()
    os._exit(status)  # an orderly exit takes 20 ms


if __name__ == "__main__":
    main()
