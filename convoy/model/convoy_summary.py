"""What is known of a convoy without reading it whole."""

from msgspec import Struct

from convoy.model.records import Usage


class ConvoySummary(Struct, frozen=True, kw_only=True):
    """The few fields by which convoys that rest are found and counted."""

    issue: int
    by: str
    state: str
    requested_at: int
    ended_at: int
    pulls: tuple[int, ...]
    """Its own pull request and those of its tasks."""
    tasks: dict[str, int]
    """How many tasks are in which state."""
    used: Usage
    """What its ended sessions used, planning included."""
