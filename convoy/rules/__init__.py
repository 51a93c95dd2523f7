"""What may happen, and what follows when something ends. Pure.

The rules of this room depend on a task's kind or on what is ready. A command's fields
mean what those of the same name mean in the event that it leads to.
"""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from convoy.events import Events, Refusal
from convoy.events.forge_actions import ActionIntended, final_comment, pull_wanted
from convoy.events.task_events import (
    ConvoyCompleted,
    ConvoyFailed,
    TaskBlocked,
    TaskDropped,
    TaskMerged,
)
from convoy.kinds import attending, kind_of, needed, trial
from convoy.model import ids
from convoy.model.state import Convoy, State, Task


def holds_own_work(convoy: Convoy) -> bool:
    """Whether the convoy's branch holds anything that its target does not."""
    return any(task.landed for task in convoy.tasks)


ALL_DROPPED: Final = "every task was dropped"
"""Why a convoy failed of which people wanted nothing any more."""


def pull_due(state: State, convoy: Convoy, task: Task, ci: tuple[str, ...]) -> Events:
    """Announce what is to show a task's work, which changes these files of CI's."""
    if task.pull or trial(convoy, task) or not convoy.shows_work(ci):
        return ()
    return pull_wanted(state, convoy.name, task.number)


def convoy_next(convoy: Convoy, settled: Task) -> Events:
    """Return what follows for its reviews and the convoy when a task has settled.

    Landed work is offered as the convoy's own pull request; without any, there is none.
    """
    name, changed, ends = convoy.name, {settled.number: settled}, Events()
    for task, bond in attending(convoy, settled):
        if settled.state == "merged" and not task.attempt:
            ends += (TaskMerged(convoy=name, task=task.number),)
            changed[task.number] = replace(task, state="merged")
        else:  # a session that still runs is wasted
            why = f"{bond} task {settled.number}, which was {settled.state}"
            ends += (TaskDropped(convoy=name, task=task.number, why=why),)
            changed[task.number] = replace(task, state="dropped")
    tasks = tuple(changed.get(task.number, task) for task in convoy.tasks)
    return (*ends, *_stranded(convoy, tasks), *_convoy_after(convoy, tasks))


def _stranded(convoy: Convoy, after: tuple[Task, ...]) -> Iterator[TaskBlocked]:
    gone = {task.number for task in after if task.state == "dropped"}
    gone -= {task.number for task in convoy.tasks if task.state == "dropped"}
    for task in after if gone else ():
        spec = task.spec  # waiting for a path does not count
        awaited = {n for n in spec.after if not spec.overlaps(n)}
        lost = gone & {*awaited, *needed(spec)}
        if task.state == "queued" and lost:
            why = f"it needs task {min(lost)}, which was dropped"
            yield TaskBlocked(convoy=convoy.name, task=task.number, why=why)


def _convoy_after(convoy: Convoy, tasks: tuple[Task, ...]) -> Events:
    if not all(task.settled for task in tasks):
        return ()
    if holds_own_work(replace(convoy, tasks=tasks)):
        if convoy.pull is not None or convoy.given is not None:
            return ()  # a task that came later has settled, or it lands without
        key = ids.key("pull", convoy.name, 0)
        return (ActionIntended(key=key, kind="pull", convoy=convoy.name),)
    if any(task.state == "merged" for task in tasks):
        return completed(convoy, convoy.base)
    dropped = ConvoyFailed(convoy=convoy.name, why=ALL_DROPPED)
    return (dropped, final_comment(convoy.name))


def completed(convoy: Convoy, commit: str, why: str = "") -> Events:
    merged = (
        TaskMerged(convoy=convoy.name, task=task.number, commit=commit)
        for task in (convoy.tasks if convoy.lands_given else ())
    )
    done = ConvoyCompleted(convoy=convoy.name, commit=commit, why=why)
    return (*merged, done, final_comment(convoy.name))


def check_unused(convoy: Convoy, task: Task) -> None:
    """Refuse a change of a task that lands with another that has begun."""
    if why := kind_of(task.spec).in_use(convoy, task):
        raise Refusal(why)


def check_unjudged(convoy: Convoy, task: Task) -> None:
    """Refuse a change of work that others build on, or are comparing."""
    check_unused(convoy, task)
    if why := kind_of(task.spec).being_judged(convoy, task):
        raise Refusal(why)
