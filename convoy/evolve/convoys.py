"""What is true of a convoy after an event."""

from typing import assert_never

from msgspec.structs import replace

from convoy.events import (
    ConvoyApproved,
    ConvoyCompleted,
    ConvoyFailed,
    ConvoyPaused,
    ConvoyPlanned,
    ConvoyRanked,
    ConvoyRequested,
    ConvoyResumed,
    TaskSpec,
)
from convoy.state import Convoy, ConvoyState, State, Task

ConvoyEvent = (
    ConvoyPlanned
    | ConvoyApproved
    | ConvoyRanked
    | ConvoyPaused
    | ConvoyResumed
    | ConvoyCompleted
    | ConvoyFailed
)


def requested(state: State, event: ConvoyRequested) -> Convoy:
    """Return the convoy that a request makes."""
    return Convoy(
        name=event.convoy,
        issue=event.issue,
        title=event.title,
        text=event.text,
        by=event.by,
        target=event.target,
        base=event.base,
        settings=event.settings,
        pattern=event.pattern,
        inputs=event.inputs,
        requested_at=state.moment.at,
        mayor=_mayor(event),
    )


def _mayor(event: ConvoyRequested) -> Task | None:
    """Return task 0, where an engine is to plan."""
    name = event.settings.planner
    if not name:
        return None
    told = f"{event.title}\n\n{event.text}".strip()
    spec = TaskSpec(number=0, title="Plan the work", instructions=told, engine=name)
    return Task(spec=spec)


def convoy_after(state: State, convoy: Convoy, event: ConvoyEvent) -> Convoy:
    """Return the convoy after something happened to it as a whole."""
    match event:
        case ConvoyPlanned():
            tasks = tuple(Task(spec=spec) for spec in event.tasks)
            waits = convoy.waits_for_approval
            now: ConvoyState = "planning" if waits else "active"
            return replace(
                convoy,
                state=now,
                tasks=tasks,
                planner=event.planner,
                estimate=event.estimate,
                warnings=event.warnings,
                overlaps=event.overlaps,
            )
        case ConvoyApproved():
            return replace(convoy, state="active", vouched_by=event.by)
        case ConvoyRanked():
            return replace(convoy, priority=event.priority)
        case ConvoyPaused():
            return replace(convoy, state="paused", why=event.why)
        case ConvoyResumed():
            return replace(convoy, state="active", why="", vouched_by=event.by)
        case ConvoyCompleted():
            return _ended(state, replace(convoy, landed=event.commit), "complete", "")
        case ConvoyFailed():
            return _ended(state, convoy, "failed", event.why)
        case _:
            assert_never(event)


def _ended(state: State, convoy: Convoy, how: ConvoyState, why: str) -> Convoy:
    return replace(convoy, state=how, why=why, candidate=None, ended_at=state.moment.at)
