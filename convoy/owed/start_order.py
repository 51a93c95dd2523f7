"""Which of the tasks that may start goes first. Pure.

What was sent back, for its work is paid for already; then what most tasks wait for;
then what is least likely to collide with what is under way; then what is listed first.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from convoy.model.state import Convoy, Task

Key = tuple[bool, int, int, int]


def next_start(
    convoy: Convoy,
    waiting: Iterable[Task],
    waited_for: Mapping[int, int],
    chosen: Collection[int],
) -> Task:
    """Return the task to start next.

    Args:
        convoy: the tasks'.
        waiting: the tasks that may start, at least one.
        waited_for: for each task how many wait for it.
        chosen: those that start now as well.
    """
    under_way = {t.number for t in convoy.tasks if t.attempt or t.work} | {*chosen}
    risks = _risks(convoy, under_way)

    def key(task: Task) -> Key:
        risk = int(10 * risks[task.number])
        return (not task.started, -waited_for.get(task.number, 0), risk, task.number)

    return min(waiting, key=key)


def waiting_behind(convoy: Convoy) -> dict[int, int]:
    """Return for each task how many that are not settled wait for it, at any remove."""
    before = {
        task.number: {*task.spec.after, *task.spec.on}
        for task in convoy.tasks
        if not task.settled
    }
    behind = dict.fromkeys(before, 0)
    for number in before:
        for other in _all_before(number, before):
            behind[other] += 1
    return behind


def _all_before(number: int, before: Mapping[int, set[int]]) -> set[int]:
    found: set[int] = set()
    left = [number]
    while left:
        new = {n for n in before[left.pop()] if n in before} - found - {number}
        found |= new
        left += new
    return found


def _risks(convoy: Convoy, under_way: Collection[int]) -> Mapping[int, float]:
    """Return how many collisions with what is under way are expected of each task."""
    found: dict[int, float] = defaultdict(float)
    for each in convoy.overlaps:
        for one, other in ((each.one, each.other), (each.other, each.one)):
            if other in under_way:
                found[one] += each.chance
    return found
