"""Red work is judged once more before anybody is blamed, and kept meanwhile. Pure.

Work that CI finds red leaves the chain of candidates, which is built again without it.
It is judged alone on the branch's real tip. If it is red there too, it may lack a task
that is listed before it: it is kept as it is and judged again when one has landed. Its
agent gets it back when CI was red on the same files more than once, and no task listed
before it can still land. Plans list what others need first; where work is red once more
after its agent had it back, the plan may not, and the later tasks are waited for, too.
"""

from typing import Final

from convoy import kinds
from convoy.kinds import can_be_split
from convoy.model.state import Convoy, Task, landed_help, may_help
from convoy.model.work import Doubt
from convoy.rules.turns import unmet

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
    """Return the tasks that may bring what red work lacks, and go on by themselves."""
    others = may_help(convoy, task.number, task.doubted)
    return tuple(other.number for other in others if _goes_on(convoy, other))


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
            return not (kinds.awaited(convoy, task) or unmet(convoy, task))
        case "needs-review":
            return _may_land(convoy, task)
        case _:
            return can_be_split(convoy, task)


def _may_land(convoy: Convoy, task: Task) -> bool:
    if task.held or task.withdrawn or is_kept(task):
        return False
    if kinds.trial(convoy, task) is not None:
        return not task.is_proven
    return not kinds.kept_by_tasks(convoy, task)


def is_due(convoy: Convoy, task: Task, tip: str) -> bool:
    """Whether suspect work is to be judged alone on `tip` now.

    Once at once. Then when what it may lack has landed: each time more of it, so that
    red work costs few runs, until no more is to come.
    """
    doubt = task.doubted
    if doubt is None or not _is_looked_at(doubt):
        return True
    if not movers(convoy, task):
        return _has_moved(convoy, task, doubt) or doubt.times < looks(convoy)
    landed = landed_help(convoy, task.number, doubt) - doubt.landed
    return doubt.base != tip and landed >= 1 << (doubt.reds - LOOKS + 1)


def is_to_blame(convoy: Convoy, task: Task) -> bool:
    """Whether the work's agent gets it back: red alone, again, and nothing can help.

    Of several that wait for each other the first listed goes.
    """
    doubt = task.doubted
    if doubt is None or not is_kept(task) or convoy.state != "active":
        return False
    if convoy.sync.candidate is not None and not convoy.sync.stalled:
        return False  # the target is about to come in
    if doubt.times < looks(convoy) or _has_moved(convoy, task, doubt):
        return False
    return not movers(convoy, task) and not any(
        is_kept(other) and not _is_out(convoy, other)
        for other in convoy.tasks
        if other.number < task.number
    )


def _has_moved(convoy: Convoy, task: Task, doubt: Doubt) -> bool:
    """Whether the branch has got what may help since the work was red last."""
    landed = landed_help(convoy, task.number, doubt)
    return landed != doubt.landed or convoy.sync.commit != doubt.synced


def _is_out(convoy: Convoy, task: Task) -> bool:
    """Whether a person keeps the task, so that nothing is to be had by waiting."""
    return bool(
        task.state != "needs-review"
        or task.waits_aside
        or task.taken_out is not None
        or task.held
        or task.withdrawn
        or kinds.kept_by_tasks(convoy, task)
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
