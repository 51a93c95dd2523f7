"""What is true of a task after a person changed the plan or judged its work."""

from typing import assert_never

from msgspec.structs import replace

from convoy.events import (
    ApprovalVoided,
    TaskApproved,
    TaskAssigned,
    TaskHeard,
    TaskLinked,
    TaskSpec,
    TaskSplit,
    TaskTold,
    Wait,
    WorkRebased,
)
from convoy.graph import overlapping
from convoy.splits import relinked
from convoy.state import Convoy, Message, State, Task

Edit = (
    TaskLinked
    | TaskAssigned
    | TaskTold
    | TaskHeard
    | TaskApproved
    | ApprovalVoided
    | WorkRebased
)


def edited(state: State, task: Task, event: Edit) -> Task:
    """Return the task after somebody's word."""
    spec = task.spec
    match event:
        case TaskLinked():
            after = tuple(sorted({*spec.after, event.on}))
            said = event.why or f"{event.by} said so"
            why = Wait(event.on, said, overlap=not event.by)
            linked = replace(spec, after=after, waits=(*spec.waits, why))
            return replace(task, spec=linked)
        case TaskAssigned():
            return replace(task, spec=replace(spec, engine=event.engine))
        case TaskTold():
            return _told(task, event)
        case TaskHeard():
            attempt = task.attempt and replace(task.attempt, heard=event.messages)
            return replace(task, attempt=attempt)
        case TaskApproved():
            return replace(task, approved_by=(*task.approved_by, event.by))
        case ApprovalVoided():
            left = tuple(by for by in task.approved_by if by != event.by)
            return replace(task, approved_by=left, candidate=None)
        case WorkRebased():
            return _rebased(state, task, event)
        case _:
            assert_never(event)


def freed_of(convoy: Convoy, dropped: int) -> Convoy:
    """Let nothing wait any more that did so only for what both would have touched."""
    tasks = (
        replace(task, spec=_without(task.spec, dropped))
        if overlapping(task.spec, dropped)
        else task
        for task in convoy.tasks
    )
    return replace(convoy, tasks=tuple(tasks))


def split(convoy: Convoy, event: TaskSplit) -> Convoy:
    """Let all that waited for a task wait for its parts."""
    before = (task.spec for task in convoy.tasks)
    specs = {s.number: s for s in relinked(before, event.task, event.parts)}
    known = (replace(task, spec=specs[task.number]) for task in convoy.tasks)
    return replace(convoy, tasks=(*known, *(Task(spec=part) for part in event.parts)))


def _without(spec: TaskSpec, number: int) -> TaskSpec:
    return replace(
        spec,
        after=tuple(each for each in spec.after if each != number),
        waits=tuple(wait for wait in spec.waits if wait.on != number),
    )


def _told(task: Task, event: TaskTold) -> Task:
    attempt = task.attempt
    if attempt is not None:
        said = Message(by=event.by, text=event.text)
        attempt = replace(attempt, messages=(*attempt.messages, said))
    notes = (*task.notes, f"{event.by} says: {event.text}")
    return replace(task, notes=notes, attempt=attempt)


def _rebased(state: State, task: Task, event: WorkRebased) -> Task:
    if task.work is None:
        return task
    work = replace(
        task.work, commit=event.commit, base=event.base, log=state.moment.commit
    )
    return replace(task, work=work, approved_by=(), candidate=None)
