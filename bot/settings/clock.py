"""The clock that every part of the bot uses."""

import time
from collections.abc import Callable

Clock = Callable[[], int]
"""Returns the current time, unix ms."""


def wall_clock() -> int:
    """Return the current time, unix ms."""
    return time.time_ns() // 1_000_000
