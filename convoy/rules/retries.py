"""Whether a task is tried again after an attempt that did not land, or a person asked.

`CAUSES` in `convoy.model.records` says what each cause means.
"""

from collections import Counter
from typing import Final

from convoy import rules
from convoy.events import Events, Refusal, TaskCommand, copied
from convoy.events.people_events import TaskTold, ThreadsRaised, blocked_key, known
from convoy.events.task_events import TaskBlocked, TaskQueued
from convoy.gate import unallowed, wants
from convoy.kinds import kind_of, needed
from convoy.model.records import CAUSES, Cause
from convoy.model.session_result import OUTAGES_MOST
from convoy.model.state import Convoy, State, Task
from convoy.model.work import ReviewThread
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


def dropped_needs(convoy: Convoy, task: Task) -> list[int]:
    """Return the tasks it needs that were dropped: it can only be dropped, too."""
    before = {*task.spec.after, *needed(task.spec)}
    return [
        t.number for t in convoy.tasks if t.number in before and t.state == "dropped"
    ]


class RetryTask(TaskCommand, frozen=True, kw_only=True):
    """A person wants a blocked task tried again, with fresh attempts."""

    by: str

    def decide(self, state: State) -> Events:
        convoy, task = self.task_in(state, "blocked")
        if lost := dropped_needs(convoy, task):
            raise Refusal(
                f"task {task.number} needs task {lost[0]}, which was dropped: drop "
                f"task {task.number} too"
            )
        if paths := unallowed(task, convoy.settings.gate):
            raise Refusal(f"task {task.number}: {wants(task.number, paths)}")
        kind = kind_of(task.spec)
        if why := kind.retry_fault(convoy, task):
            raise Refusal(why)
        again = (*kind.retried_with(convoy, task), task)
        return tuple(
            TaskQueued(
                convoy=convoy.name,
                task=each.number,
                cause="retry",
                why=each.why,
                wanted_by=self.by,
            )
            for each in again
        )


class ReviseTask(TaskCommand, frozen=True, kw_only=True):
    by: str
    text: str

    def decide(self, state: State) -> Events:
        convoy, task = self.task_in(state, "needs-review")
        rules.check_unjudged(convoy, task)
        why = f"{self.by} asks for changes: {self.text}"
        events = to_be_changed(convoy, task, why, self.by)
        if not any(isinstance(event, TaskBlocked) for event in events):
            return events
        return (*events, *known(self.convoy, self.by, blocked_key(task)))


AGAIN_MOST: Final = 3


def unending(threads: tuple[ReviewThread, ...]) -> str:
    """Return why another attempt would not settle them; empty: it may.

    Who asks again about a line may do so in another thread.
    """
    often = Counter[tuple[str, int, str]]()
    for each in threads:
        often[each.path, each.line, each.by] += each.times
    for each in threads:
        where = f"line {each.line} of {each.path}" if each.line else each.path
        asked = sum(
            one.times
            for one in threads
            if (one.path, one.says) == (each.path, each.says)
        )
        if each.is_open and each.bot and asked >= AGAIN_MOST:
            return f"{each.by} keeps asking for the same change in {each.path}"
        place = each.path, each.line
        for by in (by for *at, by in often if tuple(at) == place and by != each.by):
            if min(often[*place, by], often[*place, each.by]) > 1:
                return f"{each.by} and {by} disagree about {where}"
    return ""


class RaiseThreads(TaskCommand, frozen=True, kw_only=True):
    """Somebody who may ask for work spoke of lines of a task's work."""

    by: str
    text: str
    """All of the threads, for the next attempt; cleaned."""
    threads: tuple[ReviewThread, ...]

    def decide(self, state: State) -> Events:
        """Send the work back; where another attempt would not settle it, ask a person.

        While an attempt runs it is told, and what it hands in is sent back.
        """
        _, task = self.unsettled(state)
        raised, told = copied(ThreadsRaised, self), copied(TaskTold, self)
        if why := unending(raised.task_after(task, state.moment).threads):
            why = f"{why}: say what to do, then `/brat retry {self.task}`"
            return (raised, told, copied(TaskBlocked, self, why=why))
        if task.state != "needs-review":
            return (raised, told)
        return (raised, *copied(ReviseTask, self).decide(state))
