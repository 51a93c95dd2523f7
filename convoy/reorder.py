"""Which tasks have to wait after all, seen by what others really touched. Pure.

A plan orders tasks by what they say they touch. What an attempt handed in says what it
does touch: a task that has not begun, and is to touch that too, waits until it landed.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from convoy.actions import Reorder
from convoy.events import TaskSpec
from convoy.graph import waits
from convoy.kinds import ANSWERS
from convoy.rivals import is_unchosen
from convoy.state import Convoy, Task

SHOWN: Final = 3
"""So many files are named in a reason."""


def overlooked(convoy: Convoy) -> tuple[Reorder, ...]:
    """Return which tasks that have not begun must wait for work that has not landed.

    None where either waits for the other already, so that no circle comes of it; and
    none where tasks take no leases on what they touch.
    """
    if convoy.settings.locks == "off" or convoy.state not in ("active", "paused"):
        return ()
    landing = (task for task in convoy.tasks if not is_unchosen(convoy, task))
    working = [(task, files) for task in landing if (files := _touched(task))]
    return tuple(_found(convoy, working)) if working else ()


def _found(
    convoy: Convoy, working: list[tuple[Task, tuple[str, ...]]]
) -> Iterator[Reorder]:
    specs = {task.number: task.spec for task in convoy.tasks}
    for task in convoy.tasks:
        changes = task.spec.paths and task.spec.kind not in ANSWERS
        has_base = task.spec.on  # it starts from its tests, whatever has landed since
        if task.state != "queued" or task.started or has_base or not changes:
            continue
        for other, files in working:
            if _ordered(specs, task.number, other.number):
                continue
            if shared := [file for file in files if _inside(file, task.spec)]:
                yield Reorder(convoy.name, task.number, other.number, _why(shared))


def _touched(task: Task) -> tuple[str, ...]:
    """Return the files of a task's work that has not landed, if it may soon."""
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
