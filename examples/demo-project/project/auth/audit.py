"""The audit log: one line for each thing that happened."""

from datetime import UTC, datetime


def line(event: str, *, user: str, now: int) -> str:
    """Return one entry; `user` is what somebody typed and may be anything."""
    moment = datetime.fromtimestamp(now, tz=UTC).isoformat()
    return f"{moment} {event} user={user}\n"
