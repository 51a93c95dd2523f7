"""Tests written before the code: CI sees them red, and both land together."""

from convoy.kinds import work_kind
from convoy.kinds.task_kind import TaskKind, Trial
from convoy.model.records import Settings, TaskSpec
from convoy.model.state import Convoy, Task


def coder(convoy: Convoy, tests: Task) -> Task | None:
    """Return the task whose code must pass the tests."""
    found = (t for t in convoy.tasks if tests.number in t.spec.on and t.number)
    return next((t for t in found if t.spec.kind == work_kind.KIND.name), None)


def _fault(settings: Settings, task: TaskSpec, tasks: tuple[TaskSpec, ...]) -> str:
    """Return what keeps CI from seeing the tests red, or one task from passing them."""
    if not settings.require_ci:
        return f"CI must find the tests of task {task.number} red, and none is required"
    work = work_kind.KIND.name
    code = [t for t in tasks if t.kind == work and task.number in t.on]
    if len(code) != 1:
        return f"one task of work is on the tests of task {task.number}"
    if not {*code[0].after} <= {*task.after}:
        return f"task {code[0].number} waits for more than its tests do"
    return ""


def _trial(_convoy: Convoy, _task: Task) -> Trial | None:
    return "red"


def _kept_back(convoy: Convoy, task: Task) -> str:
    code = coder(convoy, task)
    tests = f"task {code.number if code else 0} to pass its tests"
    return tests if task.is_proven else "CI to find its tests red"


def _settles_with(_convoy: Convoy, task: Task, other: Task) -> str:
    is_code = other.spec.kind == work_kind.KIND.name and task.number in other.spec.on
    return "whose work it looks at" if is_code else ""


def _in_use(convoy: Convoy, task: Task) -> str:
    code = coder(convoy, task)
    if code is None or code.settled or not code.started:
        return ""
    return f"task {code.number} goes on from the tests of task {task.number}"


def _must_change(_task: TaskSpec) -> str:
    return "has tests that are to be there and pass"


KIND = TaskKind(
    name="tests",
    title="tests",
    needs_ci="to see tests red",
    fault=_fault,
    must_change=_must_change,
    trial=_trial,
    kept_back=_kept_back,
    in_use=_in_use,
    settles_with=_settles_with,
)
