"""How many attempts in a row brought no work: what stops everything, when too many.

One broken key, image or vendor fails every attempt; each costs money. Work that comes
in, and a person who lets things go on, begin the count anew. A vendor's outage has its
own patience and does not count.
"""

from typing import Final

from msgspec.structs import replace

from convoy.events import (
    Cause,
    ConvoyResumed,
    Event,
    TaskBlocked,
    TaskMerged,
    TaskQueued,
    WorkAccepted,
)
from convoy.state import State

_FAILED: Final[frozenset[Cause]] = frozenset({"lost", "failed", "refused"})


def counted(before: State, after: State, event: Event) -> State:
    """Return `after` with its count, as `event` leaves it."""
    match event:
        case WorkAccepted() | TaskMerged() | ConvoyResumed():
            return replace(after, failures=0) if before.failures else after
        case TaskQueued(cause="retry"):
            return replace(after, failures=0) if before.failures else after
        case TaskQueued(cause=cause) if cause in _FAILED:
            return replace(after, failures=before.failures + 1)
        case TaskBlocked(convoy=name, task=number) if _ran(before, name, number):
            return replace(after, failures=before.failures + 1)
        case _:
            return after


def _ran(state: State, name: str, number: int) -> bool:
    """Whether the task is blocked in place of another attempt."""
    convoy = state.convoys.get(name)
    task = convoy.in_session(number) if convoy else None
    return task is not None and task.state == "running"
