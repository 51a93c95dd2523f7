"""Which tasks let all others go first: they wait for a person, or CI was red on them.

Pure.
"""

from collections import defaultdict
from collections.abc import Mapping

from convoy.model.state import Convoy, Task
from convoy.model.task_graph import overlapping
from convoy.readiness.lacking_approvals import lacking


def unmet(convoy: Convoy, task: Task) -> tuple[int, ...]:
    """Return the tasks that must be merged first and are not, whatever they touch."""
    return tuple(
        number
        for number in task.spec.after
        if not overlapping(task.spec, number)
        and ((other := convoy.task(number)) is None or other.state != "merged")
    )


def stuck_tasks(convoy: Convoy) -> set[int]:
    """Return the tasks that wait for a person or were red, and what needs them."""
    stuck = {t.number for t in convoy.tasks if not t.settled and _needs_help(convoy, t)}
    if not stuck:
        return stuck
    needing = _needing(convoy)
    reached = [*stuck]
    while reached:
        more = set(needing[reached.pop()]) - stuck
        stuck |= more
        reached += more
    return stuck


def _needing(convoy: Convoy) -> Mapping[int, set[int]]:
    """Return for each task those that do not land without it."""
    needing: dict[int, set[int]] = defaultdict(set)
    unsettled = {task.number for task in convoy.tasks if not task.settled}
    for task in convoy.tasks:
        if task.number in unsettled:
            for number in (*unmet(convoy, task), *task.spec.on):
                needing[number].add(task.number)
        for number in unsettled & {*task.spec.on}:  # that one is looked at
            needing[task.number].add(number)
    return needing


def _needs_help(convoy: Convoy, task: Task) -> bool:
    """Whether a task itself waits for a person, is set aside or was red."""
    if task.state == "blocked" or task.waits_aside:
        return True
    if task.doubted is not None and task.doubted.is_open:
        return True
    if task.held or task.withdrawn or task.taken_out is not None:
        return True
    if task.state == "needs-review":
        return bool(lacking(convoy, task))
    return task.state == "queued" and convoy.state == "paused"
