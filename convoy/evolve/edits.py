"""What is true of a task after a person changed the plan or judged its work."""

from typing import assert_never

from msgspec.structs import replace

from convoy.events import (
    ApprovalVoided,
    TaskApproved,
    TaskAssigned,
    TaskLinked,
    TaskTold,
    WorkRebased,
)
from convoy.state import State, Task

Edit = (
    TaskLinked | TaskAssigned | TaskTold | TaskApproved | ApprovalVoided | WorkRebased
)


def edited(state: State, task: Task, event: Edit) -> Task:
    """Return the task after somebody's word."""
    spec = task.spec
    match event:
        case TaskLinked():
            after = tuple(sorted({*spec.after, event.on}))
            return replace(task, spec=replace(spec, after=after))
        case TaskAssigned():
            return replace(task, spec=replace(spec, engine=event.engine))
        case TaskTold():
            return replace(task, notes=(*task.notes, f"{event.by} says: {event.text}"))
        case TaskApproved():
            return replace(task, approved_by=(*task.approved_by, event.by))
        case ApprovalVoided():
            left = tuple(by for by in task.approved_by if by != event.by)
            return replace(task, approved_by=left, candidate=None)
        case WorkRebased():
            return _rebased(state, task, event)
        case _:
            assert_never(event)


def _rebased(state: State, task: Task, event: WorkRebased) -> Task:
    if task.work is None:
        return task
    work = replace(
        task.work, commit=event.commit, base=event.base, log=state.moment.commit
    )
    return replace(task, work=work, approved_by=(), candidate=None)
