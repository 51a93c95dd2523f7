"""The kinds of task by name, and how tasks depend on each other, whatever their kinds.

Pure. It asks the kinds' rows.
"""

from collections.abc import Iterator
from typing import Final, get_args

from convoy.kinds.rivals import RIVALRY
from convoy.kinds.task_kinds import PLAN, SPLIT, TASK_KINDS, KindName, TaskKind, Trial
from convoy.model.records import CAUSES, Kind, TaskSpec
from convoy.model.state import Convoy, Task
from convoy.model.work import HalfDone, Unmerged, Work

_ROWS: Final = {row.name: row for row in (*TASK_KINDS, *RIVALRY)}
KINDS: Final[dict[KindName, TaskKind]] = {
    name: _ROWS[name] for name in (*get_args(Kind), PLAN.name)
}
"""The kinds by name, in the order people are shown them."""


def kind_of(spec: TaskSpec) -> TaskKind:
    """Return the row of a task's kind; number 0, the plan itself, has its own."""
    return KINDS[spec.kind] if spec.number else PLAN


def _tied(convoy: Convoy, task: Task) -> Iterator[Task]:
    """Yield the tasks that look at this one, or that it looks at."""
    return (
        other
        for other in convoy.tasks
        if task.number in other.spec.on or other.number in task.spec.on
    )


def attending(convoy: Convoy, task: Task) -> Iterator[tuple[Task, str]]:
    """Yield the tasks that are settled when this one is, and what it is to each."""
    for other in _tied(convoy, task):
        bond = kind_of(other.spec).settles_with(convoy, other, task)
        if bond and not other.settled:
            yield other, bond


def trial(convoy: Convoy, task: Task) -> Trial | None:
    """Return the verdict CI must give on the task's work alone; None: none."""
    return kind_of(task.spec).trial(convoy, task)


def kept_by_tasks(convoy: Convoy, task: Task) -> str:
    """Return what other tasks must do before this one lands; empty: nothing."""
    if why := kind_of(task.spec).kept_back(convoy, task):
        return why
    found = (kind_of(t.spec).keeps(convoy, t, task) for t in _tied(convoy, task))
    return next(filter(None, found), "")


def is_done(convoy: Convoy, task: Task) -> bool:
    """Whether the task's purpose is met, by it or by others in its place."""
    if task.state != "dropped":
        return task.state == "merged"
    parts = any(each.spec.part_of == task.number for each in convoy.tasks)
    return parts or kind_of(task.spec).done_by_others(convoy, task)


def starts_from(convoy: Convoy, task: Task) -> Work | None:
    """Return the work that the next attempt starts from; None: the branch's tip.

    It is its own, which people want changed, or another task's.
    """
    return task.earlier or kind_of(task.spec).starts_from(convoy, task)


def half_done(convoy: Convoy, task: Task) -> HalfDone | None:
    """Return the half-done work that the next attempt continues; None: none.

    None also if it is based on other work than the attempt would now start from.
    """
    found = task.half_done
    if found is None or kind_of(task.spec).answer:
        return None
    work = starts_from(convoy, task)
    return found if work is None or work.commit == found.ground else None


def unmerged(convoy: Convoy, task: Task) -> Unmerged | None:
    """Return the conflicting work that the next attempt makes fit; None: none."""
    kind = kind_of(task.spec)
    if kind.answer or kind.takes_target_in or starts_from(convoy, task):
        return None
    return task.unmerged


def needed(spec: TaskSpec) -> tuple[int, ...]:
    """Return the tasks that this one looks at and cannot do without."""
    target = kind_of(spec).target
    return () if target is not None and target.most > 1 else spec.on


def relief(convoy: Convoy, task: Task) -> str:
    """Return why a blocked task needs no person's help; empty: it does need it."""
    tied = _tied(convoy, task)
    found = (kind_of(each.spec).relieves(convoy, each, task) for each in tied)
    return next(filter(None, found), "")


def is_stopped(convoy: Convoy, task: Task) -> bool:
    return task.state == "blocked" and not relief(convoy, task)


def can_be_split(convoy: Convoy, task: Task) -> bool:
    """Whether a person may have it done in parts: no other task is tied to it."""
    tied = any(kind_of(other.spec) is not SPLIT for other in _tied(convoy, task))
    return kind_of(task.spec).is_work and not tied


def may_be_too_much(convoy: Convoy, task: Task) -> bool:
    """Whether smaller tasks may do what agents tried in vain."""
    means = CAUSES[task.cause]
    is_tried = means.in_a_row and not means.goes_on
    return is_tried and can_be_split(convoy, task)
