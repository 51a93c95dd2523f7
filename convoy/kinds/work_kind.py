"""Work: a task that ends in a change, and may have tests written for it first."""

from convoy.kinds.task_kind import Target, TaskKind, looked_at
from convoy.model.attempt import Work
from convoy.model.records import TaskSpec
from convoy.model.state import Convoy, Task


def _starts_from(convoy: Convoy, task: Task) -> Work | None:
    tests = looked_at(convoy, task)
    return tests.work if tests is not None and tests.is_proven else None


def _waits_for(convoy: Convoy, task: Task) -> str:
    if not task.spec.on or task.earlier or _starts_from(convoy, task) is not None:
        return ""
    return f"CI to find the tests of task {task.spec.on[0]} red"


def _must_change(task: TaskSpec) -> str:
    return "has tests that are to be there and pass" if task.on else ""


KIND = TaskKind(
    name="work",
    title="a step of work",
    is_work=True,
    is_accepted=True,
    target=Target(kind="tests", says="is on one task that is tests", is_optional=True),
    waits_for=_waits_for,
    starts_from=_starts_from,
    must_change=_must_change,
)
