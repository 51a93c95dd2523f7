"""In which order tasks can go: the dependency graph of a convoy's tasks.

Pure. Edges point from a task to what it waits for. The order of everything returned
depends on the numbers only, so that two bots that fold the same log agree.
"""

from collections.abc import Collection, Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from heapq import heapify, heappop, heappush

from msgspec.structs import replace

from convoy.model.records import TaskSpec, Wait


def order(tasks: Iterable[TaskSpec]) -> tuple[int, ...]:
    """Return all numbers, each after those it waits for, the smallest first.

    A dependency on a number that is not among `tasks` counts as met.

    Raises:
        ValueError: the tasks wait for each other in a circle.
    """
    after = {task.number: task.after for task in tasks}
    sorter = TopologicalSorter(
        {number: [n for n in wanted if n in after] for number, wanted in after.items()}
    )
    try:
        sorter.prepare()
    except CycleError as error:
        circle = find_cycle(after)
        raise ValueError(f"the tasks wait in a circle: {circle}") from error
    waiting = list(sorter.get_ready())
    heapify(waiting)
    placed: list[int] = []
    while waiting:
        number = heappop(waiting)
        placed.append(number)
        sorter.done(number)
        for freed in sorter.get_ready():
            heappush(waiting, freed)
    return tuple(placed)


def overlapping(task: TaskSpec, on: int) -> bool:
    """Return whether a task waits for another one only because both touch the same."""
    return any(wait.on == on and wait.overlap for wait in task.waits)


def waits(tasks: Mapping[int, TaskSpec], task: int, on: int) -> bool:
    """Return whether a task waits for another one, directly or through others."""
    seen: set[int] = set()
    left = [task]
    while left:
        at = left.pop()
        if at == on:
            return True
        if at not in seen and at in tasks:
            seen.add(at)
            left += tasks[at].after
    return False


def find_cycle(edges: Mapping[int, Collection[int]]) -> tuple[int, ...] | None:
    """Return one circle, each number followed by one it waits for, or None.

    The circle starts and ends with its smallest number: `(1, 3, 1)` says that 1 waits
    for 3 and 3 waits for 1.
    """
    try:
        TopologicalSorter(
            {number: sorted(edges[number]) for number in sorted(edges)}
        ).prepare()
    except CycleError as error:
        # The second argument is the circle, first and last the same, each before what
        # waits for it. https://docs.python.org/3/library/graphlib.html
        circle: list[int] = error.args[1][:0:-1]
        start = circle.index(min(circle))
        return (*circle[start:], *circle[:start], circle[start])
    return None


def renumbered(specs: Iterable[TaskSpec], by: int) -> tuple[TaskSpec, ...]:
    """Return a plan's tasks with higher numbers, and what they wait for too."""
    return tuple(
        replace(
            spec,
            number=spec.number + by,
            after=tuple(number + by for number in spec.after),
            waits=tuple(replace(wait, on=wait.on + by) for wait in spec.waits),
        )
        for spec in specs
    )


def relinked(
    specs: Iterable[TaskSpec], number: int, parts: tuple[TaskSpec, ...]
) -> tuple[TaskSpec, ...]:
    """Return the plan with the parts; what waited for the task now waits for them."""
    return (*(_relinked(spec, number, parts) for spec in specs), *parts)


def _relinked(spec: TaskSpec, number: int, parts: tuple[TaskSpec, ...]) -> TaskSpec:
    if number not in spec.after:
        return spec
    overlap = overlapping(spec, number)
    why = next((wait.why for wait in spec.waits if wait.on == number), "")
    told = f"it is a part of task {number}" + (f": {why}" if why else "")
    waits = (wait for wait in spec.waits if wait.on != number)
    new = (Wait(part.number, told, overlap=overlap) for part in parts)
    after = {*spec.after, *(part.number for part in parts)} - {number}
    return replace(spec, after=tuple(sorted(after)), waits=(*waits, *new))
