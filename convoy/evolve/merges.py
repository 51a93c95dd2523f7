"""What is true of candidates after an event."""

from typing import assert_never

from msgspec.structs import replace

from convoy.events import MergeAttempted, MergeFailed, MergeLanded
from convoy.evolve.change import change_task
from convoy.state import Candidate, Convoy, State

MergeEvent = MergeAttempted | MergeFailed | MergeLanded


def merge_after(state: State, convoy: Convoy, event: MergeEvent) -> Convoy:
    """Return the convoy after something happened to a candidate of it or of a task."""
    candidate: Candidate | None
    match event:
        case MergeAttempted():
            candidate = Candidate(
                commit=event.candidate,
                base=event.base,
                work=event.work,
                at=state.moment.at,
            )
        case MergeFailed():
            candidate = None
        case MergeLanded():
            return convoy  # task.merged or convoy.completed beside it says the rest
        case _:
            assert_never(event)
    if event.task == 0:
        offered = candidate.work if candidate else convoy.offered
        return replace(convoy, candidate=candidate, offered=offered)
    return change_task(convoy, event.task, lambda t: replace(t, candidate=candidate))
