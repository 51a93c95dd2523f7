"""`evolve(State, Event) -> State`: what is true after an event.

Believes every event: whether it may happen was `decide`'s question. The time and commit
come from `state.moment`, which the fold sets before each event.
"""

from collections.abc import Callable
from typing import Any, Final, get_args

from msgspec.structs import replace

from convoy.events import (
    ActionDone,
    ActionIntended,
    BotStarted,
    CommentSaid,
    ConvoyRequested,
    ConvoyResumed,
    Event,
    LeaseFreed,
    LeaseTaken,
    PeopleCalled,
    RepositoryPaused,
    RepositoryResumed,
    TaskAdded,
    TaskBlocked,
    TaskDropped,
    TaskMerged,
    TaskNoted,
    TaskQueued,
    TaskReported,
    TaskSplit,
    TestsProven,
    WorkAccepted,
    WorkProven,
)
from convoy.evolve.breaker import counted
from convoy.evolve.change import (
    change_convoy,
    change_session,
    change_task,
    with_convoy,
)
from convoy.evolve.convoys import ConvoyEvent, convoy_after, requested
from convoy.evolve.edits import Edit, edited, freed_of, split
from convoy.evolve.holdings import action_after, lease_after, withdrawn
from convoy.evolve.holds import Hold, hold_after
from convoy.evolve.merges import MergeEvent, merge_after
from convoy.evolve.notes import noted
from convoy.evolve.tasks import FREE, TaskEvent, task_after
from convoy.evolve.today import counted_today
from convoy.state import State, Task

Tried = WorkAccepted | TaskMerged | TaskQueued | TaskBlocked
"""How an attempt may end."""

__all__ = ["FREE", "evolve"]


def _requested(state: State, event: ConvoyRequested) -> State:
    return with_convoy(state, requested(state, event))


def _of_convoy(state: State, event: ConvoyEvent) -> State:
    return change_convoy(state, event.convoy, lambda c: convoy_after(state, c, event))


def _of_merge(state: State, event: MergeEvent) -> State:
    return change_convoy(state, event.convoy, lambda c: merge_after(state, c, event))


def _of_hold(state: State, event: Hold) -> State:
    return change_convoy(state, event.convoy, lambda c: hold_after(c, event))


def _added(state: State, event: TaskAdded) -> State:
    return change_convoy(
        state,
        event.convoy,
        lambda c: replace(c, tasks=(*c.tasks, Task(spec=event.spec))),
    )


def _split(state: State, event: TaskSplit) -> State:
    return change_convoy(state, event.convoy, lambda c: split(c, event))


def _noted(state: State, event: TaskNoted) -> State:
    return change_convoy(state, event.convoy, lambda c: noted(c, event))


def _reported(state: State, event: TaskReported) -> State:
    return change_convoy(
        state,
        event.convoy,
        lambda c: change_task(c, event.task, lambda t: replace(t, report=event.report)),
    )


def _proven(state: State, event: TestsProven) -> State:
    return change_convoy(
        state,
        event.convoy,
        lambda c: change_task(
            c, event.task, lambda t: replace(t, proven=event.commit, candidate=None)
        ),
    )


def _green(state: State, event: WorkProven) -> State:
    green = {"proven": event.commit, "lines": event.lines, "candidate": None}
    return change_convoy(
        state,
        event.convoy,
        lambda c: change_task(c, event.task, lambda t: replace(t, **green)),
    )


def _edited(state: State, event: Edit) -> State:
    return change_convoy(
        state,
        event.convoy,
        lambda c: change_task(c, event.task, lambda t: edited(state, t, event)),
    )


def _called(state: State, event: PeopleCalled) -> State:
    return change_convoy(
        state, event.convoy, lambda c: replace(c, called=(*c.called, *event.needs))
    )


def _said(state: State, event: CommentSaid) -> State:
    return change_convoy(
        state, event.convoy, lambda c: replace(c, comment=event.comment)
    )


def _of_session(state: State, event: TaskEvent) -> State:
    return change_convoy(
        counted_today(state, event),
        event.convoy,
        lambda c: change_session(c, event.task, lambda t: task_after(state, t, event)),
    )


def _dropped(state: State, event: TaskDropped) -> State:
    state = _of_session(withdrawn(state, event), event)
    return change_convoy(state, event.convoy, lambda c: freed_of(c, event.task))


def _tried(state: State, event: Tried) -> State:
    return counted(state, _of_session(state, event), event)


def _resumed(state: State, event: ConvoyResumed) -> State:
    return counted(state, _of_convoy(state, event), event)


_CHANGES: Final[dict[type[Event], Callable[[State, Any], State]]] = {
    BotStarted: lambda state, _: state,
    RepositoryPaused: lambda state, event: replace(state, paused_by=event.by),
    RepositoryResumed: lambda state, _: replace(state, paused_by="", failures=0),
    ConvoyRequested: _requested,
    TaskAdded: _added,
    TaskSplit: _split,
    TaskNoted: _noted,
    TaskReported: _reported,
    TestsProven: _proven,
    WorkProven: _green,
    CommentSaid: _said,
    PeopleCalled: _called,
    LeaseTaken: lease_after,
    LeaseFreed: lease_after,
    ActionIntended: action_after,
    ActionDone: action_after,
    **dict.fromkeys(get_args(ConvoyEvent), _of_convoy),
    **dict.fromkeys(get_args(MergeEvent), _of_merge),
    **dict.fromkeys(get_args(Hold), _of_hold),
    **dict.fromkeys(get_args(Edit), _edited),
    **dict.fromkeys(get_args(TaskEvent), _of_session),
    TaskDropped: _dropped,
    **dict.fromkeys(get_args(Tried), _tried),
    ConvoyResumed: _resumed,
}
"""By type: asking an event for each type in turn took a twentieth of reading."""


def evolve(state: State, event: Event) -> State:
    """Return the state after `event`; one about an unknown convoy changes nothing."""
    return _CHANGES[type(event)](state, event)
