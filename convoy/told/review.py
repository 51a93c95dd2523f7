"""What a reviewer looks at first: each task's risk, and what no test covers. Pure.

All of it is read off the paths that a task changed and how it came to land.
"""

import re
from pathlib import PurePosixPath
from typing import Final, Literal

from msgspec import Struct

from convoy.state import Convoy, Task

Kind = Literal["code", "tests", "docs", "nothing"]
_DEPENDENCIES: Final = re.compile(
    r"(^|/)(requirements[^/]*\.txt|pyproject\.toml|setup\.(py|cfg)|package\.json|go\.mod"
    r"|Cargo\.toml|Gemfile|pom\.xml|build\.gradle[^/]*|[^/]*\.lock|package-lock\.json)$"
)
_GUARDS: Final = re.compile(
    r"auth|login|passw|secret|token|crypt|session|permission|polic|secur|sign"
    r"|migrat|deploy|dockerfile",
    re.IGNORECASE,
)
_TEST: Final = re.compile(
    r"(^|/)(tests?|specs?|__tests__|testdata)/|(^|/)(test_[^/]*|conftest\.py)$"
    r"|[._-](test|spec)s?\.\w+$"
)
_DOCS: Final = re.compile(r"(^|/)docs?/|\.(md|rst|adoc|txt)$|(^|/)LICENSE[^/]*$")
_MANY_FILES: Final = 10
_NAMED: Final = 3


class Risk(Struct, frozen=True, kw_only=True):
    """How much a task wants to be looked at, and why."""

    task: int
    score: int
    """0: nothing stands out."""
    reasons: tuple[str, ...] = ()


def kind_of(files: tuple[str, ...]) -> Kind:
    """Return what kind of work changed these paths: the most that is among them."""
    kinds = {_kind(file) for file in files}
    for kind in ("code", "tests", "docs"):
        if kind in kinds:
            return kind
    return "nothing"


def _kind(file: str) -> Kind:
    if _TEST.search(file):
        return "tests"
    if _DEPENDENCIES.search(file):
        return "code"
    return "docs" if _DOCS.search(file) else "code"


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
    guards = [file for file in files if _GUARDS.search(file) and _kind(file) == "code"]
    needs = [file for file in files if _DEPENDENCIES.search(file)]
    told: list[tuple[int, str]] = []
    if files and not convoy.settings.require_ci:
        told.append((4, "no CI judged it"))
    if untested(task):
        told.append((3, "changes code and no test"))
    if guards:
        told.append((3, f"touches what guards: {_names(guards)}"))
    if needs:
        told.append((2, f"touches dependencies: {_names(needs)}"))
    if len(files) > _MANY_FILES:
        told.append((1, f"changes {len(files)} files"))
    if task.started > 1:
        told.append((1, f"took {task.started} attempts"))
    score = sum(points for points, _ in told)
    return Risk(task=task.number, score=score, reasons=tuple(why for _, why in told))


def untested(task: Task) -> tuple[str, ...]:
    """Return the code that a task changed, if it changed no test with it."""
    files = files_of(task)
    kinds = {file: _kind(file) for file in files}
    if "tests" in kinds.values():
        return ()
    return tuple(file for file, kind in kinds.items() if kind == "code")


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
    names = ", ".join(PurePosixPath(file).name for file in files[:_NAMED])
    more = len(files) - _NAMED
    return f"{names} and {more} more" if more > 0 else names
