"""What a reviewer looks at first: each task's risk, and what no test covers. Pure.

All of it is read off the paths that a task changed and how it came to land.
"""

import re
from typing import Final

from msgspec import Struct

from convoy.model.path_area import DEPENDENCIES, area_of_path
from convoy.model.state import Convoy, Task
from convoy.text.counts_and_times import counted

_GUARDS: Final = re.compile(
    r"auth|login|passw|secret|token|crypt|session|permission|polic|secur|sign"
    r"|migrat|deploy|dockerfile",
    re.IGNORECASE,
)
_MANY_FILES: Final = 10
_NAMED: Final = 3


class Risk(Struct, frozen=True, kw_only=True):
    """How much a task wants to be looked at, and why."""

    task: int
    score: int
    """0: nothing stands out."""
    reasons: tuple[str, ...] = ()


def files_of(task: Task) -> tuple[str, ...]:
    """Return the paths that the task's newest work changed."""
    return task.work.files if task.work else ()


def risks(convoy: Convoy) -> tuple[Risk, ...]:
    """Return the risk of each task that has landed, the greatest first."""
    merged = [task for task in convoy.tasks if task.state == "merged"]
    found = [_risk(convoy, task) for task in merged]
    return tuple(sorted(found, key=lambda risk: (-risk.score, risk.task)))


def _risk(convoy: Convoy, task: Task) -> Risk:
    files = files_of(task)
    guards = [
        file for file in files if _GUARDS.search(file) and area_of_path(file) == "code"
    ]
    needs = [file for file in files if DEPENDENCIES.search(file)]
    told: list[tuple[int, str]] = []
    if files and not convoy.settings.require_ci:
        told.append((4, "no CI judged it"))
    if untested(convoy, task):
        told.append((3, "changes code and no test"))
    if guards:
        told.append((3, f"touches what guards: {_names(guards)}"))
    if needs:
        told.append((2, f"touches dependencies: {_names(needs)}"))
    if len(files) > _MANY_FILES:
        told.append((1, f"changes {len(files)} files"))
    if task.started > 1:
        told.append((1, f"took {counted(task.started, 'attempt')}"))
    score = sum(points for points, _ in told)
    return Risk(task=task.number, score=score, reasons=tuple(why for _, why in told))


def untested(convoy: Convoy, task: Task) -> tuple[str, ...]:
    """Return the code that a task changed, if no test was changed with it.

    A test counts that another task changed, which builds on this one or this on it: a
    plan may keep tests apart.
    """
    files = files_of(task)
    beside = (other for other in convoy.tasks if _is_tied(task, other))
    if any(area_of_path(file) == "tests" for each in beside for file in files_of(each)):
        return ()
    areas = {file: area_of_path(file) for file in files}
    if "tests" in areas.values():
        return ()
    return tuple(file for file, area in areas.items() if area == "code")


def _is_tied(task: Task, other: Task) -> bool:
    """Whether one of two tasks builds on the other, and the other one landed."""
    ties = ({*one.spec.after, *one.spec.on} for one in (task, other))
    mine, others = ties
    is_tied = other.number in mine or task.number in others
    return is_tied and other.state == "merged"


def landings(convoy: Convoy) -> dict[int, tuple[str, str]]:
    """Return what to compare to see each task's change: from which commit to which.

    Tasks land one on the other, so a change goes from the landing before it to its own.
    """
    tip, found = convoy.base, {}
    landed = [task for task in convoy.tasks if task.landed]
    for task in sorted(landed, key=lambda task: (task.ended_at, task.number)):
        found[task.number] = (tip, str(task.landed))
        tip = str(task.landed)
    return found


def _names(files: list[str]) -> str:
    names = ", ".join(file.rpartition("/")[2] for file in files[:_NAMED])
    more = len(files) - _NAMED
    return f"{names} and {more} more" if more > 0 else names
