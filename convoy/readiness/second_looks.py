"""Red work is judged once more before anybody is blamed, and kept meanwhile. Pure.

Work that CI finds red leaves the chain of candidates, which is built again without it.
It is judged alone on the branch's real tip; if it is red there too, what is missing may
be another task's: it is kept as it is and judged again when the tip has moved. Its
agent gets it back only when nothing else can move the tip and CI was red on the same
files more than once.
"""

from typing import Final

from convoy.kinds import relations
from convoy.kinds.split_kind import can_be_split
from convoy.model.doubt import Doubt
from convoy.model.state import Convoy, Task
from convoy.readiness.stuck_tasks import unmet

LOOKS: Final = 2
"""How often the same files must be red before anybody is blamed."""
FLAKY_LOOKS: Final = 2
"""How many looks more there are at most where CI has been seen to be wrong."""
NAMED: Final = 3
"""How many tasks a reason names."""
LOST_MOST: Final = 3
"""How often CI may end without a verdict on the same work before a person is asked."""


def is_suspect(task: Task) -> bool:
    """Whether the task's work was red, and waits outside the chain."""
    return task.doubted is not None and task.doubted.is_open


def is_kept(task: Task) -> bool:
    """Whether red work waits until something else moves the tip."""
    doubt = task.doubted
    return is_suspect(task) and task.candidate is None and _is_looked_at(doubt)


def _is_looked_at(doubt: Doubt | None) -> bool:
    return doubt is not None and doubt.reds >= LOOKS


def looks(convoy: Convoy) -> int:
    """Return how often the same files must be red: more often where CI has flaked."""
    return LOOKS + min(len(convoy.flakes), FLAKY_LOOKS)


def movers(convoy: Convoy, task: Task) -> tuple[int, ...]:
    """Return the other tasks that can go on by themselves, and so move the tip."""
    return tuple(
        other.number
        for other in convoy.tasks
        if other.number != task.number and _goes_on(convoy, other)
    )


def _goes_on(convoy: Convoy, task: Task) -> bool:
    """Whether a task is under way; what waits for another one is not, that one may be.

    What waits for an approval is: people mean it to land.
    """
    if task.settled or task.waits_aside or task.taken_out is not None:
        return False
    match task.state:
        case "running":
            return True
        case "queued":
            return not (relations.awaited(convoy, task) or unmet(convoy, task))
        case "needs-review":
            return _may_land(convoy, task)
        case _:
            return can_be_split(convoy, task)


def _may_land(convoy: Convoy, task: Task) -> bool:
    if task.held or task.withdrawn or is_kept(task):
        return False
    if relations.trial(convoy, task) is not None:
        return not task.is_proven
    return not relations.kept_back(convoy, task)


def is_due(convoy: Convoy, task: Task, tip: str) -> bool:
    """Whether suspect work is to be judged alone on `tip` now.

    Once at once. Then when the tip has moved: each time more has to land first, so that
    red work costs few runs, but less where only later tasks are left.
    """
    doubt = task.doubted
    if doubt is None or not _is_looked_at(doubt):
        return True
    others = movers(convoy, task)
    if not others:
        return doubt.base != tip or doubt.times < looks(convoy)
    is_first = task.number < min(others)
    wanted = 1 << max(0, doubt.reds - LOOKS + (not is_first) - is_first)
    landed = sum(each.landed is not None for each in convoy.tasks)
    return doubt.base != tip and landed - doubt.landed >= wanted


def is_to_blame(convoy: Convoy, task: Task, tip: str) -> bool:
    """Whether the work's agent gets it back: red alone, again, and nothing can help.

    Of several that wait for each other the first listed goes.
    """
    doubt = task.doubted
    if doubt is None or not is_kept(task) or convoy.state != "active":
        return False
    if convoy.sync.candidate is not None and not convoy.sync.stalled:
        return False  # the target is about to come in
    if doubt.base != tip or doubt.times < looks(convoy) or movers(convoy, task):
        return False
    return not any(
        is_kept(other) and not _is_out(convoy, other)
        for other in convoy.tasks
        if other.number < task.number
    )


def _is_out(convoy: Convoy, task: Task) -> bool:
    """Whether a person keeps the task, so that nothing is to be had by waiting."""
    return bool(
        task.state != "needs-review"
        or task.waits_aside
        or task.taken_out is not None
        or task.held
        or task.withdrawn
        or relations.kept_back(convoy, task)
    )


def helped_by(convoy: Convoy, task: Task) -> str:
    """Return what red work waits for, in a few words; empty: for nothing of the kind.

    Some other task may bring what it lacks.
    """
    others = movers(convoy, task) if is_kept(task) else ()
    if not others:
        return ""
    which = " or ".join(map(str, others[:NAMED]))
    more = " or another" if len(others) > NAMED else ""
    return (
        f"task {which}{more} to land: CI is red on it alone, and judges it then again"
    )


def flaky(task: Task) -> tuple[str, ...]:
    """Return the checks that flaked if the task's candidate is green; none if not."""
    doubt, candidate = task.doubted, task.candidate
    is_same = doubt and candidate and doubt.base == candidate.base
    return doubt.checks if doubt and is_same else ()
