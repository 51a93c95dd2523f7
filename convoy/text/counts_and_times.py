"""Counts and times as people read them."""

from datetime import UTC, datetime


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, whose plural takes an s: `1 task`, `2 tasks`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def clock(at: int) -> str:
    """Return a time (unix ms) as people read it, to the second, in UTC."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
