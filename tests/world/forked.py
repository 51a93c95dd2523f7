"""Children of a test that run a function in a process of their own."""

import os
import sys
import traceback
from collections.abc import Callable


def run(*works: Callable[[], None]) -> list[int]:
    """Run each in a child at the same time; return how they ended.

    0 is well, 1 with an error (it is shown).
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
