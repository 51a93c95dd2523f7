"""Time as the client of a forge sees it: its own, and the forge's, read off answers."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Final

HALF_S: Final = 0.5
"""A `Date` header is cut to the second: on average it is this late."""


def wall() -> float:
    """Return now, unix seconds."""
    return time.time_ns() / 1e9


@dataclass(frozen=True, kw_only=True)
class Time:
    """The machine's clocks, and how to wait."""

    wall: Callable[[], float] = wall
    """Unix seconds; somebody may set this clock."""
    steady: Callable[[], float] = time.monotonic
    """Seconds of a clock that never goes back."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random
    """From 0 to 1; spreads what would else happen at one moment."""


REAL: Final = Time()


class ForgeClock:
    """The forge's time: ours, and the offset that its answers show."""

    def __init__(self, time: Time = REAL) -> None:
        self._time = time
        self.offset_s = 0.0
        """The forge's clock is ahead of ours by this."""

    def now(self) -> float:
        """Return unix seconds by the forge's clock."""
        return self._time.wall() + self.offset_s

    def learn(self, date: str | None) -> None:
        """Read a `Date` header; one that is missing or no date teaches nothing."""
        moment = seconds_of(date)
        if moment is not None:
            self.offset_s = moment + HALF_S - self._time.wall()


def seconds_of(date: str | None) -> float | None:
    """Return an HTTP date in unix seconds; None when it is not one."""
    try:
        return parsedate_to_datetime(date or "").timestamp()
    except (ValueError, OverflowError):
        return None
