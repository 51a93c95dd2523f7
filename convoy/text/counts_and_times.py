"""Counts and times as people read them."""

from datetime import UTC, datetime
from typing import Final

JUST_S: Final = 2
"""What is younger than this is now."""
_MINUTE_S: Final = 60
_HOUR_S: Final = 3600
_DAY_S: Final = 86_400


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, whose plural takes an s: `1 task`, `2 tasks`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def clock(at: int) -> str:
    """Return a time (unix ms) as people read it, to the second, in UTC."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"


def iso(at: int) -> str:
    """Return a time (unix ms) as programs read it, in UTC."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"


def ago(at: int, now: int) -> str:
    """Return how long before `now` a time was (both unix ms), as people say it."""
    since = max(0, now - at) // 1000
    if since < JUST_S:
        return "just now"
    return f"{rough(since)} ago"


def rough(length_s: float) -> str:
    """Return a length of time in one unit, the largest that fits twice."""
    if length_s < 2 * _MINUTE_S:
        return f"{length_s:.0f} s"
    if length_s < 2 * _HOUR_S:
        return f"{length_s / _MINUTE_S:.0f} min"
    if length_s < 2 * _DAY_S:
        return f"{length_s / _HOUR_S:.0f} h"
    return f"{length_s / _DAY_S:.0f} days"
