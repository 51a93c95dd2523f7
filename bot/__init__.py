"""The service: door, loop, mayor, refinery, deacon, and the GitHub driver.

All of its rooms take the version and the clock from here.
"""

import sys
import time
from collections.abc import Callable
from typing import Final

VERSION: Final = "0.1.0"

# Where rich is installed, httpx loads a command line of its own, and that pygments.
# None stands for a module that is not there.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]


Clock = Callable[[], int]
"""Returns the current time, unix ms."""


def wall_clock() -> int:
    return time.time_ns() // 1_000_000
