"""What the kinds of task have in common, and how they hang together. Pure."""

from collections.abc import Iterator
from typing import Final, Literal

from convoy.events import Kind, TaskSpec
from convoy.state import Convoy, Task, Work

REPORTING: Final[frozenset[Kind]] = frozenset({"report", "scout"})
"""They end in a report, and land nothing."""

ANSWERS: Final[dict[Kind | Literal["plan"], str]] = {
    "plan": "plan",
    "report": "report",
    "scout": "report",
    "review": "review",
}
"""What a session answers with, of the kinds whose result is no change."""


def is_last(task: TaskSpec, tasks: tuple[TaskSpec, ...]) -> bool:
    """Whether no task of the plan waits for this one."""
    return not any(task.number in other.after for other in tasks)


def attending(convoy: Convoy, number: int) -> Iterator[Task]:
    """Give the tasks that look at this one's work, and are settled when it is."""
    return (
        task
        for task in convoy.tasks
        if task.spec.kind == "review" and number in task.spec.on and not task.settled
    )


def reviewed(convoy: Convoy, review: Task) -> Work | None:
    """Return the work that a review has to look at; None: there is none now."""
    work = _work_of(convoy, review)
    return None if work is None or work.commit == review.approves else work


def awaited(convoy: Convoy, task: Task) -> str:
    """Return what a task waits for that looks at others' work; empty: nothing."""
    if task.spec.kind != "review" or reviewed(convoy, task) is not None:
        return ""
    names = ", ".join(map(str, task.spec.on))
    return (
        f"task {names} to land" if _work_of(convoy, task) else f"work of task {names}"
    )


def _work_of(convoy: Convoy, review: Task) -> Work | None:
    subject = convoy.task(review.spec.on[0]) if review.spec.on else None
    ready = subject is not None and subject.state == "needs-review"
    return subject.work if subject is not None and ready else None
