"""What the end of a session leaves: time and money used, and half-done work."""

from typing import Final

from msgspec.structs import replace

from convoy.model.attempt import HalfDone
from convoy.model.records import Usage
from convoy.model.state import Moment, State, Task
from convoy.model.usage import plus

DAY_MS: Final = 86_400_000


def ended_session(task: Task, now: Moment, usage: Usage) -> Task:
    """Return the task without its session; a task without one stays as it is."""
    if task.attempt is None:
        return task
    spent_ms = max(0, now.at - task.attempt.at)
    return replace(
        task,
        attempt=None,
        worked_ms=task.worked_ms + spent_ms,
        used=plus(task.used, usage),
    )


def judged(task: Task, now: Moment, usage: Usage) -> Task:
    """Let a task that has given its verdict wait for the work it is about."""
    ended = ended_session(task, now, usage)
    return replace(ended, state="queued", cause="planned", why="", spent=0, outages=0)


def half_done(task: Task, commit: str) -> HalfDone | None:
    """Return the half-done work that the session leaves for the next; "": none."""
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


def spent_today(state: State, usage: Usage) -> State:
    """Return the state with a session's cost counted on the day it ended."""
    if not usage.usd:
        return state
    day = state.moment.at // DAY_MS
    before = state.day_usd if day == state.day else 0.0
    total = plus(Usage(usd=before), Usage(usd=usage.usd)).usd
    return replace(state, day=day, day_usd=total)
