"""A rival: one of several tasks that try the same; one of them lands.

CI judges each rival's work as it is. A rival found green stays in the race; one found
red, or without work, is out: it is blocked, and nobody is called for it while others
are left.
"""

from convoy.kinds import choice_kind
from convoy.kinds.choice_kind import choice_of
from convoy.kinds.task_kind import TaskKind, Trial
from convoy.model.records import Settings, TaskSpec
from convoy.model.state import Convoy, Task


def _is_chosen(convoy: Convoy, task: Task) -> bool:
    choice = choice_of(convoy, task.number)
    return choice is not None and choice.chosen == task.number


def _fault(_settings: Settings, task: TaskSpec, tasks: tuple[TaskSpec, ...]) -> str:
    name = choice_kind.KIND.name
    choices = [t for t in tasks if t.kind == name and task.number in t.on]
    if len(choices) == 1:
        return ""
    return f"one choice is between task {task.number} and its rivals"


def _trial(convoy: Convoy, task: Task) -> Trial | None:
    return None if _is_chosen(convoy, task) else "green"


def _kept_back(convoy: Convoy, task: Task) -> str:
    if _is_chosen(convoy, task):
        return ""
    choice = choice_of(convoy, task.number)
    chosen = f"task {choice.number if choice else 0} to choose it"
    return chosen if task.is_proven else "CI to judge it among its rivals"


def _being_judged(convoy: Convoy, task: Task) -> str:
    choice = choice_of(convoy, task.number)
    if choice is None or choice.attempt is None or choice.chosen:
        return ""
    return f"task {choice.number} compares task {task.number} with its rivals"


def _settles_with(_convoy: Convoy, task: Task, other: Task) -> str:
    is_its_choice = choice_kind.is_choice(other) and task.number in other.spec.on
    return "which was to choose" if is_its_choice else ""


def _retried_with(convoy: Convoy, task: Task) -> tuple[Task, ...]:
    choice = choice_of(convoy, task.number)
    is_stuck = choice is not None and choice.state == "blocked"
    return (choice,) if choice is not None and is_stuck else ()


def _done_by_others(convoy: Convoy, task: Task) -> bool:
    choice = choice_of(convoy, task.number)
    return choice is not None and choice.state == "merged"


def _must_change(_task: TaskSpec) -> str:
    return "has rivals: nothing is no work to choose"


KIND = TaskKind(
    name="rival",
    title="a rival",
    is_accepted=True,
    keeps_work=True,
    may_be_needed=False,
    fault=_fault,
    must_change=_must_change,
    trial=_trial,
    kept_back=_kept_back,
    being_judged=_being_judged,
    settles_with=_settles_with,
    retried_with=_retried_with,
    done_by_others=_done_by_others,
)
