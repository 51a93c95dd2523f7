"""Where a task may start before what goes first has landed: on its candidate. Pure.

The candidate of what goes first lands unchanged if CI finds it green; a task that
starts from it goes on while CI judges. If it does not land after all, only what the
attempt itself changed is built on what does: with the strategy `merge` the work would
bring the other's commits along, so there every task waits until the other has landed.
"""

from collections.abc import Iterable

from convoy.kinds.relations import trial
from convoy.model.attempt import Candidate
from convoy.model.state import Convoy, Task
from convoy.readiness.turns import Turn


def may_start_early(convoy: Convoy, task: Task) -> bool:
    """Whether a task may start from work that has not landed: its first attempt may."""
    is_fresh = not task.started and not task.spec.on
    return is_fresh and convoy.settings.strategy != "merge"


def stands_behind(convoy: Convoy, task: Task, first: Iterable[Turn], base: str) -> bool:
    """Whether `base` is a candidate that holds the work of all that go first."""
    if not may_start_early(convoy, task):
        return False
    offered = {
        candidate.commit: (other.number, candidate)
        for other in convoy.tasks
        if (candidate := _offered(convoy, other)) is not None
    }
    held: set[int] = set()
    at = base
    while at in offered and offered[at][0] not in held:
        number, candidate = offered[at]
        held.add(number)
        at = candidate.base
    return held.issuperset(turn.on for turn in first)


def _offered(convoy: Convoy, task: Task) -> Candidate | None:
    """Return the candidate of a task's work that is to land; None: there is none."""
    if task.state != "needs-review" or trial(convoy, task) is not None:
        return None
    return task.candidate
