"""What was spent today, by all convoys: as the sessions end that spent it."""

from msgspec.structs import replace

from convoy.budget import DAY_MS
from convoy.events import (
    ChoiceMade,
    SessionLost,
    TaskMerged,
    Usage,
    WorkAccepted,
    WorkRefused,
    WorkReviewed,
)
from convoy.evolve.tasks import TaskEvent
from convoy.state import State
from convoy.usage import plus


def counted_today(state: State, event: TaskEvent) -> State:
    """Return the state with what a session spent counted on the day that it ended."""
    match event:
        case (
            WorkAccepted()
            | WorkRefused()
            | WorkReviewed()
            | ChoiceMade()
            | SessionLost()
            | TaskMerged()
        ):
            usd = event.usage.usd
        case _:
            return state
    if not usd:
        return state
    day = state.moment.at // DAY_MS
    before = state.day_usd if day == state.day else 0.0
    total = plus(Usage(usd=before), Usage(usd=usd)).usd
    return replace(state, day=day, day_usd=total)
