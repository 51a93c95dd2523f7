"""What time it is."""

import time
from collections.abc import Callable

Clock = Callable[[], int]
"""Gives now in unix ms."""


def wall_clock() -> int:
    """Return now, unix ms."""
    return time.time_ns() // 1_000_000
