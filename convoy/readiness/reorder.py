"""Which tasks must wait after all, given what others really touched. Pure.

A plan orders tasks by what they declare. An attempt's work shows what it really
touches: a task that has not begun, and declares the same, waits until the work lands.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from convoy.kinds import kind_of
from convoy.kinds.relations import trial
from convoy.model.records import TaskSpec
from convoy.model.state import Convoy, Task
from convoy.model.task_graph import waits

SHOWN: Final = 3
"""How many files a reason names."""


class Reorder(Struct, frozen=True):
    """Let a task that has not begun wait for another one's work to land."""

    convoy: str
    task: int
    on: int
    why: str


def overlooked(convoy: Convoy) -> tuple[Reorder, ...]:
    """Return the tasks not yet begun that must wait for work that has not landed.

    None if either already waits for the other, so that no circle arises, and none if
    tasks take no leases on what they touch.
    """
    if convoy.settings.locks == "off" or convoy.state not in ("active", "paused"):
        return ()
    landing = (task for task in convoy.tasks if trial(convoy, task) != "green")
    working = [(task, files) for task in landing if (files := _touched(task))]
    return tuple(_found(convoy, working)) if working else ()


def _found(
    convoy: Convoy, working: list[tuple[Task, tuple[str, ...]]]
) -> Iterator[Reorder]:
    specs = {task.number: task.spec for task in convoy.tasks}
    for task in convoy.tasks:
        changes = task.spec.paths and not kind_of(task.spec).answer
        has_base = task.spec.on  # it starts from its tests, whatever has landed since
        if task.state != "queued" or task.started or has_base or not changes:
            continue
        for other, files in working:
            if _ordered(specs, task.number, other.number):
                continue
            if shared := [file for file in files if _inside(file, task.spec)]:
                yield Reorder(convoy.name, task.number, other.number, _why(shared))


def _touched(task: Task) -> tuple[str, ...]:
    """Return the files of a task's work that has not landed but may soon."""
    work = task.work or task.earlier
    return work.files if work and task.state in ("needs-review", "running") else ()


def _ordered(specs: Mapping[int, TaskSpec], one: int, other: int) -> bool:
    return waits(specs, one, other) or waits(specs, other, one)


def _inside(file: str, spec: TaskSpec) -> bool:
    return any(f"{file}/".startswith(f"{path.rstrip('/')}/") for path in spec.paths)


def _why(files: list[str]) -> str:
    more = len(files) - SHOWN
    rest = f" and {more} more" if more > 0 else ""
    return f"its work touched {', '.join(files[:SHOWN])}{rest}, and has not landed"
