"""`evolve(State, Event) -> State`: what is true after an event.

Believes every event: whether it may happen was `decide`'s question. The time and commit
come from `state.moment`, which the fold sets before each event.
"""

from typing import assert_never

from msgspec.structs import replace

from convoy.events import (
    ActionDone,
    ActionIntended,
    ApprovalVoided,
    BotStarted,
    CommentSaid,
    ConvoyApproved,
    ConvoyCompleted,
    ConvoyFailed,
    ConvoyPaused,
    ConvoyPlanned,
    ConvoyRanked,
    ConvoyRequested,
    ConvoyResumed,
    Event,
    LeaseFreed,
    LeaseTaken,
    MergeAttempted,
    MergeFailed,
    MergeLanded,
    MergeRequested,
    MergeWithdrawn,
    SessionLost,
    TaskAdded,
    TaskApproved,
    TaskAssigned,
    TaskBlocked,
    TaskDropped,
    TaskLinked,
    TaskMerged,
    TaskQueued,
    TaskStarted,
    TaskTold,
    WorkAccepted,
    WorkHeld,
    WorkRebased,
    WorkRefused,
    WorkReleased,
)
from convoy.evolve.change import (
    change_convoy,
    change_session,
    change_task,
    with_convoy,
)
from convoy.evolve.convoys import convoy_after, requested
from convoy.evolve.edits import edited
from convoy.evolve.holdings import action_after, lease_after, withdrawn
from convoy.evolve.holds import hold_after
from convoy.evolve.merges import merge_after
from convoy.evolve.tasks import FREE, task_after
from convoy.state import State, Task

__all__ = ["FREE", "evolve"]


def evolve(state: State, event: Event) -> State:  # noqa: C901, PLR0912  one arm a kind
    """Return the state after `event`; one about an unknown convoy changes nothing."""
    match event:
        case BotStarted():
            return state
        case ConvoyRequested():
            return with_convoy(state, requested(state, event))
        case (
            ConvoyPlanned()
            | ConvoyApproved()
            | ConvoyRanked()
            | ConvoyPaused()
            | ConvoyResumed()
            | ConvoyCompleted()
            | ConvoyFailed()
        ):
            return change_convoy(
                state, event.convoy, lambda c: convoy_after(state, c, event)
            )
        case MergeAttempted() | MergeFailed() | MergeLanded():
            return change_convoy(
                state, event.convoy, lambda c: merge_after(state, c, event)
            )
        case MergeWithdrawn() | MergeRequested() | WorkHeld() | WorkReleased():
            return change_convoy(state, event.convoy, lambda c: hold_after(c, event))
        case TaskAdded():
            return change_convoy(
                state,
                event.convoy,
                lambda c: replace(c, tasks=(*c.tasks, Task(spec=event.spec))),
            )
        case (
            TaskLinked()
            | TaskAssigned()
            | TaskTold()
            | TaskApproved()
            | ApprovalVoided()
            | WorkRebased()
        ):
            return change_convoy(
                state,
                event.convoy,
                lambda c: change_task(c, event.task, lambda t: edited(state, t, event)),
            )
        case CommentSaid():
            return change_convoy(
                state, event.convoy, lambda c: replace(c, comment=event.comment)
            )
        case LeaseTaken() | LeaseFreed():
            return lease_after(state, event)
        case ActionIntended() | ActionDone():
            return action_after(state, event)
        case (
            TaskQueued()
            | TaskStarted()
            | TaskBlocked()
            | TaskMerged()
            | TaskDropped()
            | WorkAccepted()
            | WorkRefused()
            | SessionLost()
        ):
            if isinstance(event, TaskDropped):
                state = withdrawn(state, event)
            return change_convoy(
                state,
                event.convoy,
                lambda c: change_session(
                    c, event.task, lambda t: task_after(state, t, event)
                ),
            )
        case _:
            assert_never(event)
