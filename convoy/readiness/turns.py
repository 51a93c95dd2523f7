"""Which tasks take turns, because they touch the same files. Pure.

A task's area is the paths it declares and every file that its attempts were seen to
touch; for one that declares nothing and has shown nothing yet, those that works of its
convoy fight over (`predicted_files.py`). Of two tasks whose areas overlap one goes
first, until it has landed: then the other starts from what landed, or its candidate
stands on it. Nobody waits for what cannot go on without a person, and no two wait for
each other: all turns follow one order of the tasks, in which each comes after what it
needs.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from msgspec import Struct

from convoy.kinds import kind_of
from convoy.kinds.relations import trial
from convoy.model.state import Convoy, Task
from convoy.readiness.predicted_files import predicted_files
from convoy.readiness.stuck_tasks import stuck_tasks
from convoy.readiness.turn_order import in_order, planned

SHOWN: Final = 3
"""How many paths a reason names."""


class Turn(Struct, frozen=True):
    """Whom a task lets go first, and which paths both touch."""

    on: int
    paths: tuple[str, ...] = ()
    """The narrower of each two paths that meet; empty: the plan says why."""
    is_guess: bool = False
    """Whether of one of them it is neither said nor seen that it touches them."""

    def words(self) -> str:
        """Return what is waited for, in a few words."""
        more = len(self.paths) - SHOWN
        rest = f" and {more} more" if more > 0 else ""
        touch = "probably touch" if self.is_guess else "touch"
        both = f" (both {touch} {', '.join(self.paths[:SHOWN])}{rest})"
        return f"task {self.on} to land first{both if self.paths else ''}"


_RECENT: Final[deque[tuple[Convoy, Mapping[int, tuple[Turn, ...]]]]] = deque(maxlen=16)


def turns(convoy: Convoy) -> Mapping[int, tuple[Turn, ...]]:
    """Return for each task that waits for its turn whom it lets go first.

    One look at a state asks for each task: what was found for the same value is kept.
    """
    known = (found for each, found in tuple(_RECENT) if each is convoy)
    if (before := next(known, None)) is not None:
        return before
    found = _turns(convoy)
    _RECENT.append((convoy, found))
    return found


def _turns(convoy: Convoy) -> Mapping[int, tuple[Turn, ...]]:
    stuck = stuck_tasks(convoy)
    found: dict[int, list[Turn]] = defaultdict(list)
    tasks = {task.number: task for task in convoy.tasks if not task.settled}
    first = {*tasks} - stuck
    for task in tasks.values():
        for number in planned(task):
            if number in first:
                found[task.number].append(Turn(number))
    if convoy.settings.locks != "off":
        _by_area(convoy, tasks, stuck, found)
    return {number: tuple(waits) for number, waits in found.items() if waits}


def area(task: Task, predicted: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the paths that a task may touch, without slashes at their ends.

    Args:
        task: any.
        predicted: what is added where nobody said or saw what the task touches.
    """
    known = frozenset(path.rstrip("/") for path in (*task.spec.paths, *task.touched))
    return known or predicted


def _by_area(
    convoy: Convoy,
    tasks: Mapping[int, Task],
    stuck: Collection[int],
    found: dict[int, list[Turn]],
) -> None:
    """Add the turns of those whose areas overlap."""
    guess = predicted_files(convoy)
    acting = {n: task for n, task in tasks.items() if _takes_turns(convoy, task)}
    areas = {n: area(task, guess) for n, task in acting.items()}
    met = {pair: paths for pair, paths in _met(areas).items() if _apart(tasks, pair)}
    if not met:
        return
    place = {number: at for at, number in enumerate(in_order(convoy, tasks))}
    for (one, other), paths in sorted(met.items()):
        first, then = sorted((one, other), key=place.__getitem__)
        known = any(turn.on == first for turn in found[then])
        if first not in stuck and not known and not tasks[then].spec.on:
            is_guess = any(areas[n] is guess for n in (first, then))
            found[then].append(Turn(first, tuple(sorted(paths)), is_guess))


def _takes_turns(convoy: Convoy, task: Task) -> bool:
    """Whether a task changes files that others may change; rivals not yet chosen try.

    What takes the target in touches whatever has moved there, and waits for nobody.
    """
    kind = kind_of(task.spec)
    tries = trial(convoy, task) == "green"
    return not (kind.answer or kind.takes_target_in or tries)


def _apart(tasks: Mapping[int, Task], pair: tuple[int, int]) -> bool:
    """Whether two tasks are not tied: what looks at a task lands with it."""
    one, other = pair
    return one not in tasks[other].spec.on and other not in tasks[one].spec.on


def _met(areas: Mapping[int, frozenset[str]]) -> dict[tuple[int, int], set[str]]:
    """Return the pairs of tasks whose areas overlap, and where they do."""
    at: dict[str, list[int]] = defaultdict(list)
    for number, paths in areas.items():
        for path in paths:
            at[path].append(number)
    met: dict[tuple[int, int], set[str]] = defaultdict(set)
    for path, numbers in at.items():
        around = (n for folder in _folders(path) for n in at.get(folder, ()))
        for other in (*numbers, *around):
            for one in numbers:
                if one != other:
                    met[min(one, other), max(one, other)].add(path)
    return met


def _folders(path: str) -> Iterable[str]:
    parts = path.split("/")
    return ("/".join(parts[:length]) for length in range(1, len(parts)))
