"""Which tasks take turns, because they touch the same files, and which wait for people.

Pure. A task's area is the paths it declares and every file that its attempts were seen
to touch. Of two tasks whose areas overlap one goes first, until it has landed: then the
other starts from what landed, or its candidate stands on it.

Nobody waits for what cannot go on without a person, and no two wait for each other: all
turns follow one order, in which each task comes after what it needs; apart from that
what CI judges comes first, then what has begun, then what is listed first.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Mapping
from graphlib import CycleError
from typing import Final

from msgspec import Struct

from convoy.events.people_events import lacking_approvals
from convoy.gate import path_list
from convoy.kinds import kind_of, trial
from convoy.model.state import Convoy, Task
from convoy.model.task_graph import in_turn, reached


class Turn(Struct, frozen=True):
    """Whom a task lets go first, and which paths both touch."""

    on: int
    paths: tuple[str, ...] = ()
    """The narrower of each two paths that meet; empty: the plan says why."""

    def words(self) -> str:
        both = f" (both touch {path_list(self.paths)})"
        return f"task {self.on} to land first{both if self.paths else ''}"


_RECENT: Final[deque[tuple[Convoy, Mapping[int, tuple[Turn, ...]]]]] = deque(maxlen=16)


def turns(convoy: Convoy) -> Mapping[int, tuple[Turn, ...]]:
    """Return for each task that waits for its turn whom it lets go first.

    One look at a state asks for each task: what was found for the same value is kept.
    """
    known = (kept for each, kept in tuple(_RECENT) if each is convoy)
    if (before := next(known, None)) is not None:
        return before
    stuck = stuck_tasks(convoy)
    found: dict[int, list[Turn]] = defaultdict(list)
    tasks = {task.number: task for task in convoy.tasks if not task.settled}
    first = {*tasks} - stuck
    for task in tasks.values():
        for number in planned_first(task):
            if number in first:
                found[task.number].append(Turn(number))
    if convoy.settings.locks != "off":
        _by_area(convoy, tasks, stuck, found)
    first_of = {number: tuple(waits) for number, waits in found.items() if waits}
    _RECENT.append((convoy, first_of))
    return first_of


def _by_area(
    convoy: Convoy,
    tasks: Mapping[int, Task],
    stuck: Collection[int],
    found: dict[int, list[Turn]],
) -> None:
    areas: dict[int, frozenset[str]] = {}
    for number, task in tasks.items():
        kind = kind_of(task.spec)
        tries = trial(convoy, task) == "green"  # as rivals do that are not yet chosen
        # What takes the target in touches whatever has moved there, and waits for none.
        if not (kind.answer or kind.takes_target_in or tries):
            own = (*task.spec.paths, *task.touched)
            areas[number] = frozenset(path.rstrip("/") for path in own)
    met = {
        (one, other): paths
        for (one, other), paths in _met(areas).items()
        # What looks at a task lands with it.
        if one not in tasks[other].spec.on and other not in tasks[one].spec.on
    }
    if not met:
        return
    place = {number: at for at, number in enumerate(in_order(convoy, tasks))}
    for (one, other), paths in sorted(met.items()):
        first, then = sorted((one, other), key=place.__getitem__)
        known = any(turn.on == first for turn in found[then])
        if first not in stuck and not known and not tasks[then].spec.on:
            found[then].append(Turn(first, tuple(sorted(paths))))


def _met(areas: Mapping[int, frozenset[str]]) -> dict[tuple[int, int], set[str]]:
    """Return the pairs of tasks whose areas overlap, and where they do."""
    at: dict[str, list[int]] = defaultdict(list)
    for number, paths in areas.items():
        for path in paths:
            at[path].append(number)
    met: dict[tuple[int, int], set[str]] = defaultdict(set)
    for path, numbers in at.items():
        parts = path.split("/")
        folders = ("/".join(parts[:length]) for length in range(1, len(parts)))
        around = (n for folder in folders for n in at.get(folder, ()))
        for other in (*numbers, *around):
            for one in numbers:
                if one != other:
                    met[min(one, other), max(one, other)].add(path)
    return met


PATIENT: Final = 1
"""How often a task's work may conflict before it goes before those listed earlier."""

Place = tuple[int, int, int]


def planned_first(task: Task) -> tuple[int, ...]:
    """Return whom the plan lets go first for what both touch, until it has begun."""
    after = task.spec.after if not task.started else ()
    return tuple(number for number in after if task.spec.overlaps(number))


def in_order(convoy: Convoy, tasks: Mapping[int, Task]) -> list[int]:
    """Return the tasks in the order of their turns, each after what it waits for.

    Those that look at each other land together, and so count as one.
    """
    group = {number: number for number in tasks}  # the smallest among those tied to it
    for number, task in tasks.items():
        for other in group.keys() & {*task.spec.on}:
            low, high = sorted((group[number], group[other]))
            group = {n: low if g == high else g for n, g in group.items()}
    best: dict[int, Place] = {}
    left: dict[int, set[int]] = defaultdict(set)
    for number, task in tasks.items():
        own = group[number]
        best[own] = min(best.get(own, (9, 0, 0)), _place(convoy, task))
        before = {*unmet(convoy, task), *planned_first(task)}
        left[own] |= {group[n] for n in before if n in tasks} - {own}
    try:
        groups = [*in_turn(left, best.__getitem__)]
    except CycleError:  # none is in any plan that was accepted
        groups = sorted(best, key=best.__getitem__)
    placed = {own: at for at, own in enumerate(groups)}
    return sorted(tasks, key=lambda n: (placed[group[n]], _place(convoy, tasks[n])))


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


def unmet(convoy: Convoy, task: Task) -> tuple[int, ...]:
    """Return the tasks that must be merged first and are not, whatever they touch.

    What a person did is there once the convoy's branch has taken the target in.
    """
    return tuple(
        number
        for number in task.spec.after
        if not task.spec.overlaps(number)
        and (
            (other := convoy.task(number)) is None
            or other.state != "merged"
            or other.on_target
        )
    )


def sync_task(convoy: Convoy) -> Task | None:
    """Return the task, not settled, that takes the target in; None: there is none."""
    found = (t for t in convoy.tasks if kind_of(t.spec).takes_target_in)
    return next((task for task in found if not task.settled), None)


def stuck_tasks(convoy: Convoy) -> set[int]:
    """Return the tasks that wait for a person or were red, and what needs them."""
    stuck = {t.number for t in convoy.tasks if not t.settled and _needs_help(convoy, t)}
    if not stuck:
        return stuck
    needing: dict[int, set[int]] = defaultdict(set)
    """For each task those that do not land without it."""
    unsettled = {task.number for task in convoy.tasks if not task.settled}
    for task in convoy.tasks:
        if task.number in unsettled:
            for number in (*unmet(convoy, task), *task.spec.on):
                needing[number].add(task.number)
        for number in unsettled & {*task.spec.on}:  # that one is looked at
            needing[task.number].add(number)
    return reached(needing.__getitem__, stuck)


def _needs_help(convoy: Convoy, task: Task) -> bool:
    """Whether a task itself waits for a person, is set aside or was red."""
    if task.state == "blocked" or task.is_suspect or task.kept_back:
        return True
    if task.state == "needs-review":
        return bool(lacking_approvals(convoy, task))
    return task.state == "queued" and convoy.state == "paused"
