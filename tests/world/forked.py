"""Children of a test that run a function in a process of their own, and may be killed.

Forked, as a test needs dozens of them and starting Python anew takes a quarter of a
second each time.
"""

import os
import signal
import sys
import traceback
from collections.abc import Callable


def die() -> None:
    """End this process at once, as a machine that dies would."""
    os.kill(os.getpid(), signal.SIGKILL)


def run(*works: Callable[[], None]) -> list[int]:
    """Run each in a child at the same time; return how they ended.

    0 is well, 1 with an error (it is shown), -9 killed.
    """
    return [_end(child) for child in [_start(work) for work in works]]


def _start(work: Callable[[], None]) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    except BaseException:  # noqa: BLE001  the child has nobody else to tell
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _end(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
