"""Run one session: `python -I -m runner`; the environment says which.

Many sessions may start at once on a small machine, so this module shortens Python's
start and exit. The work itself is in `runner.session.session_run`.
"""

import contextlib
import gc
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket


def main(
    next_session: "Callable[[], tuple[socket, Callable[[], None]]] | None" = None,
) -> NoReturn:
    """Run the session and end with its status.

    `next_session` returns in a process of each session's own: the line to whoever asked
    for it, and what a child of that process takes over to run it.
    """
    gc.disable()  # loading makes no garbage
    _load_msgspec()
    from runner.session.session_run import run_job

    line, take_over = next_session() if next_session else (None, None)
    gc.freeze()  # a forked process shares memory that the collector leaves alone
    gc.enable()
    status = run_job(take_over)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):  # the reader of our output has gone
            stream.flush()
    if line:
        with contextlib.suppress(OSError):  # who asked has gone
            line.sendall(bytes((status,)))
    os._exit(status)  # an orderly exit takes 20 ms


def _load_msgspec() -> None:
    """Load msgspec without typing_extensions, which takes a tenth of our start.

    It takes `get_type_hints` from there only for Pythons whose own lacks something:
    https://github.com/jcrist/msgspec/blob/0.22.0/src/msgspec/_utils.py
    """
    name = "typing_extensions"
    if name in sys.modules:
        return
    modules: dict[str, Any] = sys.modules
    modules[name] = None  # an import of it fails at once
    import msgspec  # noqa: F401  for what it loads

    del sys.modules[name]


if __name__ == "__main__":
    main()
