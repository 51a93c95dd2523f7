"""`evolve(State, Event) -> State`: what is true after an event.

Believes every event: whether it may happen was `decide`'s question. The time and commit
come from `state.moment`, which the fold sets before each event.
"""

from collections.abc import Callable
from typing import assert_never

from msgspec.structs import replace

from convoy.events import (
    ActionDone,
    ActionIntended,
    BotStarted,
    CommentSaid,
    ConvoyCompleted,
    ConvoyFailed,
    ConvoyPaused,
    ConvoyPlanned,
    ConvoyRequested,
    ConvoyResumed,
    Event,
    LeaseFreed,
    LeaseTaken,
    MergeAttempted,
    MergeFailed,
    MergeLanded,
    SessionLost,
    TaskBlocked,
    TaskDropped,
    TaskMerged,
    TaskQueued,
    TaskStarted,
    WorkAccepted,
    WorkRefused,
)
from convoy.state import (
    Attempt,
    Candidate,
    Convoy,
    ConvoyState,
    Intent,
    Lease,
    State,
    Task,
    Work,
)

FREE = frozenset({"planned", "outage", "retry"})
"""Causes of a return to the queue that cost no attempt."""

_ConvoyEvent = (
    ConvoyPlanned | ConvoyPaused | ConvoyResumed | ConvoyCompleted | ConvoyFailed
)
_TaskEvent = (
    TaskQueued
    | TaskStarted
    | TaskBlocked
    | TaskMerged
    | TaskDropped
    | WorkAccepted
    | WorkRefused
    | SessionLost
)
_MergeEvent = MergeAttempted | MergeFailed | MergeLanded


def evolve(state: State, event: Event) -> State:
    """Return the state after `event`; an event about an unknown convoy changes nothing."""
    match event:
        case BotStarted():
            return state
        case ConvoyRequested():
            return _with(state, _requested(state, event))
        case (
            ConvoyPlanned()
            | ConvoyPaused()
            | ConvoyResumed()
            | ConvoyCompleted()
            | ConvoyFailed()
        ):
            return _change(state, event.convoy, lambda c: _convoy(state, c, event))
        case MergeAttempted() | MergeFailed() | MergeLanded():
            return _change(state, event.convoy, lambda c: _merge(state, c, event))
        case CommentSaid():
            return _change(
                state, event.convoy, lambda c: replace(c, comment=event.comment)
            )
        case LeaseTaken() | LeaseFreed():
            return _lease(state, event)
        case ActionIntended() | ActionDone():
            return _action(state, event)
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
            return _change(
                state,
                event.convoy,
                lambda c: _change_task(c, event.task, lambda t: _task(state, t, event)),
            )
        case _:
            assert_never(event)


def _with(state: State, convoy: Convoy) -> State:
    return replace(state, convoys={**state.convoys, convoy.name: convoy})


def _change(state: State, name: str, change: Callable[[Convoy], Convoy]) -> State:
    convoy = state.convoys.get(name)
    return state if convoy is None else _with(state, change(convoy))


def _change_task(convoy: Convoy, number: int, change: Callable[[Task], Task]) -> Convoy:
    tasks = tuple(
        change(task) if task.number == number else task for task in convoy.tasks
    )
    return replace(convoy, tasks=tasks)


def _requested(state: State, event: ConvoyRequested) -> Convoy:
    return Convoy(
        name=event.convoy,
        issue=event.issue,
        title=event.title,
        text=event.text,
        by=event.by,
        target=event.target,
        base=event.base,
        settings=event.settings,
        requested_at=state.moment.at,
    )


def _convoy(state: State, convoy: Convoy, event: _ConvoyEvent) -> Convoy:
    match event:
        case ConvoyPlanned():
            tasks = tuple(Task(spec=spec) for spec in event.tasks)
            return replace(convoy, state="active", planner=event.planner, tasks=tasks)
        case ConvoyPaused():
            return replace(convoy, state="paused")
        case ConvoyResumed():
            return replace(convoy, state="active")
        case ConvoyCompleted():
            return _ended(state, replace(convoy, landed=event.commit), "complete", "")
        case ConvoyFailed():
            return _ended(state, convoy, "failed", event.why)
        case _:
            assert_never(event)


def _ended(state: State, convoy: Convoy, how: ConvoyState, why: str) -> Convoy:
    return replace(convoy, state=how, why=why, candidate=None, ended_at=state.moment.at)


def _task(state: State, task: Task, event: _TaskEvent) -> Task:
    match event:
        case TaskQueued():
            return _queued(task, event)
        case TaskStarted():
            return _started(state, task, event)
        case TaskBlocked():
            return replace(
                task, state="blocked", why=event.why, attempt=None, candidate=None
            )
        case TaskMerged() | TaskDropped():
            return _settled(state, task, event)
        case WorkAccepted():
            work = Work(
                attempt=event.attempt,
                commit=event.commit,
                base=event.base,
                files=event.files,
                at=state.moment.at,
            )
            return replace(_ended_session(state, task), state="needs-review", work=work)
        case WorkRefused() | SessionLost():
            return _ended_session(state, task)
        case _:
            assert_never(event)


def _queued(task: Task, event: TaskQueued) -> Task:
    spent = 0 if event.cause == "retry" else task.spent
    if event.cause == "outage":
        spent -= 1
    notes = task.notes if not event.why else (*task.notes, event.why)
    return replace(
        task,
        state="queued",
        cause=event.cause,
        why=event.why,
        spent=spent,
        notes=notes,
        attempt=None,
        work=None,
        candidate=None,
    )


def _started(state: State, task: Task, event: TaskStarted) -> Task:
    attempt = Attempt(
        number=event.attempt,
        session=event.session,
        nonce=event.nonce,
        base=event.base,
        log=state.moment.commit,
        at=state.moment.at,
    )
    return replace(
        task,
        state="running",
        why="",
        started=event.attempt,
        spent=task.spent + 1,
        attempt=attempt,
        begun_at=task.begun_at or state.moment.at,
    )


def _settled(state: State, task: Task, event: TaskMerged | TaskDropped) -> Task:
    at = state.moment.at
    if isinstance(event, TaskDropped):
        return replace(
            task,
            state="dropped",
            why=event.why,
            attempt=None,
            candidate=None,
            ended_at=at,
        )
    return replace(
        task,
        state="merged",
        why="",
        landed=event.commit,
        attempt=None,
        candidate=None,
        ended_at=at,
    )


def _ended_session(state: State, task: Task) -> Task:
    if task.attempt is None:
        return task
    spent_ms = max(0, state.moment.at - task.attempt.at)
    return replace(task, attempt=None, worked_ms=task.worked_ms + spent_ms)


def _merge(state: State, convoy: Convoy, event: _MergeEvent) -> Convoy:
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
        return replace(convoy, candidate=candidate)
    return _change_task(convoy, event.task, lambda t: replace(t, candidate=candidate))


def _lease(state: State, event: LeaseTaken | LeaseFreed) -> State:
    leases = dict(state.leases)
    if isinstance(event, LeaseTaken):
        leases[event.resource] = Lease(
            resource=event.resource,
            holder=event.holder,
            nonce=event.nonce,
            expires=event.expires,
        )
    else:
        leases.pop(event.resource, None)
    return replace(state, leases=leases)


def _action(state: State, event: ActionIntended | ActionDone) -> State:
    intents = dict(state.intents)
    if isinstance(event, ActionIntended):
        intents[event.key] = Intent(
            key=event.key,
            kind=event.kind,
            convoy=event.convoy,
            task=event.task,
            attempt=event.attempt,
        )
        return replace(state, intents=intents)
    intent = intents.pop(event.key, None)
    state = replace(state, intents=intents)
    return state if intent is None else _done(state, intent, event.number)


def _done(state: State, intent: Intent, number: int) -> State:
    def dispatched(task: Task) -> Task:
        attempt = task.attempt
        if attempt is None or attempt.number != intent.attempt:
            return task
        return replace(task, attempt=replace(attempt, run=number))

    def noted(convoy: Convoy) -> Convoy:
        match intent.kind:
            case "dispatch":
                return _change_task(convoy, intent.task, dispatched)
            case "pull" if intent.task == 0:
                return replace(convoy, pull=number)
            case "pull":
                return _change_task(
                    convoy, intent.task, lambda t: replace(t, pull=number)
                )
            case "comment" | "finish":
                return convoy
            case _:
                assert_never(intent.kind)

    return _change(state, intent.convoy, noted)
