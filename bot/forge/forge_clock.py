"""This machine's time, and the forge's time as its answers show it."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Final

HALF_S: Final = 0.5
"""A `Date` header has whole seconds: on average it is behind by this much."""


def wall() -> float:
    """Return the time, unix seconds."""
    return time.time_ns() / 1e9


@dataclass(frozen=True, kw_only=True)
class Time:
    """The machine's clocks, its randomness, and a way to wait."""

    wall: Callable[[], float] = wall
    """Unix seconds; a person may set this clock."""
    steady: Callable[[], float] = time.monotonic
    """Seconds of a clock that never goes back."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random
    """A random number from 0 to 1 that spreads simultaneous actions."""


REAL: Final = Time()


class ForgeClock:
    """The forge's time: ours, and the offset that its answers show."""

    def __init__(self, time: Time = REAL) -> None:
        self._time = time
        self.offset_s = 0.0
        """How far the forge's clock is ahead of ours."""

    def now(self) -> float:
        """Return unix seconds by the forge's clock."""
        return self._time.wall() + self.offset_s

    def learn(self, date: str | None) -> None:
        """Learn the time from a `Date` header; a missing or invalid one is ignored."""
        moment = seconds_of(date)
        if moment is not None:
            self.offset_s = moment + HALF_S - self._time.wall()


def seconds_of(date: str | None) -> float | None:
    """Return an HTTP date in unix seconds; None if the text is no date."""
    try:
        return parsedate_to_datetime(date or "").timestamp()
    except (ValueError, OverflowError):
        return None
