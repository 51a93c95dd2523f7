"""Whether a task is tried again after an attempt that did not land, or a person asked.

`CAUSES` in `convoy.model.records` says what each cause means.
"""

from convoy.events import Events
from convoy.events.task_events import TaskBlocked, TaskQueued
from convoy.kinds import kind_of
from convoy.model.records import CAUSES, Cause
from convoy.model.session_result import OUTAGES_MOST
from convoy.model.state import Convoy, State, Task
from convoy.text import counted


def queued_again(
    state: State,
    convoy: Convoy,
    task: Task,
    cause: Cause,
    last: str,
    *,
    not_before: int = 0,
    is_alike: bool = False,
) -> Events:
    """Queue the task once more; else block it, unless its kind offers an alternative.

    A task that was dropped or blocked while its session ran stays so. `last` says why
    the attempt did not land, and `is_alike` whether that is why the one before failed.
    """
    if task.state not in ("running", "needs-review"):
        return ()
    name, number, settings = convoy.name, task.number, convoy.settings
    why = ""
    if CAUSES[cause].costs and task.spent >= settings.attempts:
        why = _spent(last, task)
    elif is_alike:
        why = f"two attempts failed in the same way within seconds: {last}"
    elif cause == "refused" == task.cause and last in task.notes[-1:]:
        why = f"two attempts were refused for the same reason: {last}"
    elif cause == "conflict" and settings.conflicts == "person":
        why = f"{last}, and the configuration leaves conflicts to people"
    elif cause == "conflict" and task.conflicts >= settings.rounds:
        tries = counted(task.conflicts, "attempt")
        why = f"its conflicts are still not resolved after {tries}: {last}"
    elif cause == "outage" and task.outages >= OUTAGES_MOST:
        why = f"{task.outages + 1} attempts could not reach a model: {last}"
    if why:
        blocked = TaskBlocked(convoy=name, task=number, why=why, cause=cause)
        way_out = kind_of(task.spec).way_out(state, convoy, task, last)
        return (blocked,) if way_out is None else way_out
    queued = TaskQueued(
        convoy=name, task=number, cause=cause, why=last, not_before=not_before
    )
    return (queued,)


def to_be_changed(convoy: Convoy, task: Task, why: str, by: str = "") -> Events:
    """Send work back to be changed; if its attempts are spent, ask a person.

    `by` is the person whose words `why` holds.
    """
    name, number = convoy.name, task.number
    queued = TaskQueued(convoy=name, task=number, cause="changes", why=why, by=by)
    if task.spent < convoy.settings.attempts:
        return (queued,)
    spent = _spent(why, task)
    return (queued, TaskBlocked(convoy=convoy.name, task=task.number, why=spent))


def _spent(why: str, task: Task) -> str:
    """Return why the last attempt failed; its first line says how many did."""
    first, *log = why.split("\n", 1)
    return "\n".join((f"{first} (after {counted(task.spent, 'attempt')})", *log))
