"""A review: fresh eyes on another task's work, which lands when they approve it."""

from convoy.kinds.task_kind import Target, TaskKind, looked_at
from convoy.model.attempt import Work
from convoy.model.state import Convoy, Task


def _starts_from(convoy: Convoy, task: Task) -> Work | None:
    subject = looked_at(convoy, task)
    work = subject.work if subject is not None else None
    return None if work is None or task.approves == work.commit else work


def _waits_for(convoy: Convoy, task: Task) -> str:
    if _starts_from(convoy, task) is not None:
        return ""
    [number] = task.spec.on
    is_there = looked_at(convoy, task) is not None
    return f"task {number} to land" if is_there else f"work of task {number}"


def _looks_at(task: Task, other: Task) -> bool:
    return other.number in task.spec.on and not task.settled


def _keeps(_convoy: Convoy, task: Task, other: Task) -> str:
    if not _looks_at(task, other):
        return ""
    is_approved = other.work is not None and task.approves == other.work.commit
    return "" if is_approved else f"the review by task {task.number}"


def _settles_with(_convoy: Convoy, task: Task, other: Task) -> str:
    return "whose work it looks at" if _looks_at(task, other) else ""


KIND = TaskKind(
    name="review",
    title="a review",
    answer="review",
    target=Target(kind="work", says="reviews one task that is work", lands_after=True),
    waits_for=_waits_for,
    starts_from=_starts_from,
    keeps=_keeps,
    settles_with=_settles_with,
)
