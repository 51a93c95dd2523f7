"""What is true of a task after an event."""

from typing import assert_never

from msgspec.structs import replace

from convoy.events import (
    ChoiceMade,
    SessionLost,
    TaskBlocked,
    TaskDropped,
    TaskMerged,
    TaskQueued,
    TaskStarted,
    Usage,
    WorkAccepted,
    WorkRefused,
    WorkReviewed,
)
from convoy.state import Attempt, HalfDone, HandedIn, State, Task, Work
from convoy.usage import plus

FREE = frozenset({"planned", "outage", "setup", "spent", "retry"})
"""Causes of a return to the queue that cost no attempt."""
_NOT_THE_WORKS = frozenset({"outage", "setup"})
"""They say nothing of the task's work."""

TaskEvent = (
    TaskQueued
    | TaskStarted
    | TaskBlocked
    | TaskMerged
    | TaskDropped
    | WorkAccepted
    | WorkRefused
    | WorkReviewed
    | ChoiceMade
    | SessionLost
)


def task_after(  # noqa: C901  one arm a kind
    state: State, task: Task, event: TaskEvent
) -> Task:
    """Return the task after something happened to it or to its session."""
    match event:
        case TaskQueued():
            return _queued(task, event)
        case TaskStarted():
            return _started(state, task, event)
        case TaskBlocked():
            task = replace(task, cause=event.cause or task.cause)
            stopped = replace(task, state="blocked", why=event.why, candidate=None)
            return replace(stopped, splits=event.splits)
        case TaskMerged() | TaskDropped():
            return _settled(state, task, event)
        case WorkAccepted():
            work = Work(
                attempt=event.attempt,
                commit=event.commit,
                base=event.base,
                files=event.files,
                log=state.moment.commit,
                at=state.moment.at,
            )
            return replace(
                _ended_session(state, task, event.usage),
                state="needs-review",
                work=work,
                handed_in=HandedIn(event.attempt, event.commit),
                approved_by=(),
                earlier=None,
                half_done=None,
            )
        case WorkReviewed():
            return _reviewed(state, task, event)
        case ChoiceMade():
            return replace(_judged(state, task, event.usage), chosen=event.on)
        case WorkRefused() | SessionLost():
            left = _left(task, event.left)
            return replace(_ended_session(state, task, event.usage), half_done=left)
        case _:
            assert_never(event)


def _queued(task: Task, event: TaskQueued) -> Task:
    spent = 0 if event.cause == "retry" else task.spent
    outages = 0
    if event.cause in _NOT_THE_WORKS:
        spent -= 1
    if event.cause == "outage":
        outages = task.outages + 1
    is_news = event.why and event.cause not in {*_NOT_THE_WORKS, "spent"}
    notes = (*task.notes, event.why) if is_news else task.notes
    return replace(
        task,
        state="queued",
        cause=event.cause,
        why=event.why,
        spent=spent,
        splits=False,
        rounds=0 if event.cause == "retry" else task.rounds,
        outages=outages,
        not_before=event.not_before,
        notes=notes,
        work=None,
        candidate=None,
        approved_by=(),
        earlier=task.work if event.cause == "changes" else task.earlier,
    )


def _started(state: State, task: Task, event: TaskStarted) -> Task:
    left = task.half_done
    attempt = Attempt(
        number=event.attempt,
        session=event.session,
        nonce=event.nonce,
        base=event.base,
        root=event.root,
        salvaged=event.salvaged,
        ground=left.ground if event.salvaged and left else event.base,
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
            candidate=None,
            ended_at=at,
        )
    return replace(
        _ended_session(state, task, event.usage),
        state="merged",
        why="",
        landed=event.commit,
        candidate=None,
        ended_at=at,
    )


def _reviewed(state: State, task: Task, event: WorkReviewed) -> Task:
    """Let the review wait for other work, or for this to land."""
    if task.state != "running":
        return _ended_session(state, task, event.usage)
    ended = _judged(state, task, event.usage)
    if event.verdict == "approve":
        return replace(ended, approves=event.commit)
    return replace(ended, rounds=task.rounds + 1)


def _left(task: Task, commit: str) -> HalfDone | None:
    """Return the half-done work that the session leaves for the next."""
    attempt = task.attempt
    if attempt is None or not commit:
        return None
    before = task.half_done
    is_same = before is not None and before.commit == commit
    return HalfDone(
        attempt=before.attempt if before is not None and is_same else attempt.number,
        commit=commit,
        base=attempt.root or attempt.base,
        ground=attempt.ground,
    )


def _judged(state: State, task: Task, usage: Usage) -> Task:
    """Let what has given its word wait for the work that this is about."""
    ended = _ended_session(state, task, usage)
    return replace(ended, state="queued", cause="planned", why="", spent=0, outages=0)


def _ended_session(state: State, task: Task, usage: Usage) -> Task:
    if task.attempt is None:
        return task
    spent_ms = max(0, state.moment.at - task.attempt.at)
    return replace(
        task,
        attempt=None,
        worked_ms=task.worked_ms + spent_ms,
        used=plus(task.used, usage),
    )
