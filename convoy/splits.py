"""Splits: what one agent could not do is planned anew, as several smaller tasks. Pure.

The split is a task of its own beside the one it is for, as a review is: it has its own
engine, attempts and money, and whatever stops the bot, it is owed by the state.
"""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from convoy.events import TaskSpec, Wait
from convoy.graph import overlapping
from convoy.state import Convoy, Task

MAYOR: Final = "the mayor"
"""Who adds a split."""
LEAST: Final = 2
"""So many parts a task is split into; one would be the same task again."""
MOST: Final = 8


def split_of(convoy: Convoy, number: int) -> Task | None:
    """Return the task that is to split this one, or was; there is one at most."""
    found = (t for t in convoy.tasks if t.spec.kind == "split" and number in t.spec.on)
    return next(found, None)


def room(convoy: Convoy) -> int:
    """Return into how many parts a task may be split: it goes, and makes room."""
    counted = (
        t for t in convoy.tasks if t.state != "dropped" and t.spec.kind != "split"
    )
    return min(MOST, convoy.settings.tasks - sum(1 for _ in counted) + 1)


def can_be_split(convoy: Convoy, task: Task) -> bool:
    """Whether a task that stopped is to be split, and nobody has begun to.

    Not what is a part already, what was tried to be split, or what others are tied to.
    """
    stopped = task.state == "blocked" and task.splits and task.attempt is None
    whole = task.spec.kind == "work" and not (task.spec.on or task.spec.part_of)
    tied = any(task.number in other.spec.on for other in convoy.tasks)
    known = convoy.settings.splitter in convoy.settings.engines
    return stopped and whole and not tied and known and room(convoy) >= LEAST


def being_split(convoy: Convoy, task: Task) -> Task | None:
    """Return the task by which a task that stopped is being split."""
    split = split_of(convoy, task.number) if task.state == "blocked" else None
    return split if split is not None and not split.settled else None


def relinked(
    specs: Iterable[TaskSpec], number: int, parts: tuple[TaskSpec, ...]
) -> tuple[TaskSpec, ...]:
    """Return a plan with the parts, on which now waits what waited for the task."""
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
