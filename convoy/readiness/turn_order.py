"""The one order of a convoy's tasks that all turns follow. Pure.

Each task comes after what it needs; apart from that what CI judges comes first, then
what has begun, then what is listed first. So no two tasks wait for each other.
"""

from collections import defaultdict
from collections.abc import Mapping
from heapq import heapify, heappop, heappush
from typing import Final

from convoy.kinds.relations import trial
from convoy.model.state import Convoy, Task
from convoy.model.task_graph import overlapping
from convoy.readiness.stuck_tasks import unmet

PATIENT: Final = 1
"""How often a task's work may conflict before it goes before those listed earlier."""

Place = tuple[int, int, int]


def planned(task: Task) -> tuple[int, ...]:
    """Return whom the plan lets go first for what both touch, until it has begun."""
    after = task.spec.after if not task.started else ()
    return tuple(number for number in after if overlapping(task.spec, number))


def in_order(convoy: Convoy, tasks: Mapping[int, Task]) -> list[int]:
    """Return the tasks in the order of their turns, each after what it waits for.

    Those that look at each other land together, and so count as one.
    """
    group = _groups(tasks)
    best: dict[int, Place] = {}
    left: dict[int, set[int]] = defaultdict(set)
    for number, task in tasks.items():
        own = group[number]
        best[own] = min(best.get(own, (9, 0, 0)), _place(convoy, task))
        before = {*unmet(convoy, task), *planned(task)}
        left[own] |= {group[n] for n in before if n in tasks} - {own}
    free = [(best[own], own) for own in best if not left[own]]
    heapify(free)
    placed: dict[int, int] = {}
    while len(placed) < len(best):
        if not free:  # a circle of groups: none is in any plan that was accepted
            rest = min((best[own], own) for own in best if own not in placed)
            heappush(free, rest)
        _, own = heappop(free)
        placed[own] = len(placed)
        for other, at in best.items():
            if other not in placed and own in left[other]:
                left[other] -= {own}
                if not left[other]:
                    heappush(free, (at, other))
    return sorted(tasks, key=lambda n: (placed[group[n]], _place(convoy, tasks[n])))


def _groups(tasks: Mapping[int, Task]) -> dict[int, int]:
    """Return for each task the smallest number among those tied to it."""
    group = {number: number for number in tasks}
    for number, task in tasks.items():
        for other in task.spec.on:
            if other in group:
                low, high = sorted((group[number], group[other]))
                group = {n: low if g == high else g for n, g in group.items()}
    return group


def _place(convoy: Convoy, task: Task) -> Place:
    """Return a task's place: what CI judges, what has begun, then what is listed.

    What conflicted again and again goes before those that only come before it in the
    list: so nobody gives way for ever.
    """
    candidate = task.candidate
    if candidate is not None and trial(convoy, task) is None:
        return (0, candidate.since, task.number)
    if task.started:
        return (1, -max(0, task.conflicts - PATIENT), task.number)
    return (2, 0, task.number)
