"""Times as the forge writes them: UTC, to the second, as GitHub does.

A clock is any function that returns an aware `datetime`; tests bring their own.
"""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def wall_clock() -> datetime:
    """The machine's time, in UTC."""
    return datetime.now(UTC)  # noqa: TID251  the one place where the forge asks


def iso(moment: datetime) -> str:
    """Write a time the way GitHub's API does: `2026-01-31T12:00:00Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse(text: str) -> datetime:
    """Read an ISO 8601 time; one without a zone is taken as UTC.

    Raises:
        ValueError: it is not a time.
    """
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
