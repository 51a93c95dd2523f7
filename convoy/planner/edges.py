"""What a plan's tasks must wait for, though the planner did not say so. Pure.

Three things imply an order: a file that one task makes and another names, tests and
documents of what another task changes, and a path that two tasks share. Work on
different paths otherwise runs at once, also where one imports the other:
docs/decisions/0040 says why.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice, product
from posixpath import basename, dirname
from typing import Final

from msgspec.structs import replace

from convoy.model.records import TaskSpec, Wait
from convoy.model.task_graph import waits
from convoy.planner.ground import Ground
from convoy.planner.strengths import about
from grite.resource import overlaps

WARNED: Final = 5
"""How many imports between tasks that may run at once are mentioned."""
_TEST: Final = re.compile(
    r"(?:test_)?(?P<bare>[^.]+?)(?:_test|_spec|Tests?|\.test|\.spec)?\.\w+"
)

Edge = tuple[int, int, str, bool]
"""The waiting task, the task before it, the reason, and whether the waiting task would
otherwise have nothing to do."""


def ordered(
    tasks: tuple[TaskSpec, ...], ground: Ground, made: Mapping[int, tuple[str, ...]]
) -> tuple[TaskSpec, ...]:
    """Let tasks wait for what they build on; those that share a path never run at once.

    The listed order holds among those that share a path: tests or documents wait for
    what they describe only where that does not turn it round. Tasks that already wait
    for each other, directly or through others, are left alone. An edge is added only
    where neither waits for the other, so no circle arises.

    Args:
        tasks: a plan's, without a circle.
        ground: what they start from.
        made: by task, the files and folders that it makes.
    """
    done: dict[int, TaskSpec] = {task.number: task for task in tasks}
    implied = (_made(tasks, ground, made), _shared(tasks), _described(tasks, ground))
    for one, on, why, needs in chain(*implied):
        if not waits(done, one, on) and not waits(done, on, one):
            task = done[one]
            done[one] = replace(
                task,
                after=tuple(sorted({*task.after, on})),
                waits=(*task.waits, Wait(on, why, overlap=not needs)),
            )
    return tuple(done.values())


def beside(tasks: tuple[TaskSpec, ...], ground: Ground) -> tuple[str, ...]:
    """Return remarks for the plan's readers: imports between tasks that run at once."""
    specs = {task.number: task for task in tasks}
    touching = _Touching(tasks)
    found = (
        f"task {task.number} may run beside task {other}: {why}"
        for task in tasks
        for other, why in touching.imported(ground.declared(task), ground).items()
        if not waits(specs, task.number, other) and not waits(specs, other, task.number)
    )
    return tuple(islice(found, WARNED))


def _made(
    tasks: tuple[TaskSpec, ...], ground: Ground, made: Mapping[int, tuple[str, ...]]
) -> Iterator[Edge]:
    """Let tasks that name a new file wait for the task that creates it."""
    makers = [(number, path) for number, paths in made.items() for path in paths]
    for task, (maker, path) in product(tasks, makers):
        own = made.get(task.number, ())
        wanted = [p for p in task.paths if p not in own and not ground.has(p)]
        if maker != task.number and any(_meet(path, each) for each in wanted):
            yield task.number, maker, f"task {maker} makes {path}", True


def _described(tasks: tuple[TaskSpec, ...], ground: Ground) -> Iterator[Edge]:
    """Let tests and documents wait for what they describe."""
    touching = _Touching([task for task in tasks if about(task) == "code"])
    for task in tasks:
        found: dict[int, str] = {}
        if about(task) == "tests":
            found = touching.named_like(task.paths)
            found |= touching.imported(ground.within(task), ground)
        elif about(task) == "docs":
            found = touching.told_of(ground.within(task), ground)
        for other, why in sorted(found.items()):
            yield task.number, other, why, False


def _shared(tasks: tuple[TaskSpec, ...]) -> Iterator[Edge]:
    """Let the later of two tasks that share a path wait for the earlier."""
    for later in tasks:
        for earlier in tasks:
            if earlier.number >= later.number:
                break
            both = product(earlier.paths, later.paths)
            if path := next((a for a, b in both if _meet(a, b)), ""):
                yield later.number, earlier.number, f"both touch {path}", False


def _meet(one: str, other: str) -> bool:
    return overlaps(f"path:{one}", f"path:{other}")


class _Touching:
    """Finds the tasks that change what other files refer to."""

    def __init__(self, tasks: Iterable[TaskSpec]) -> None:
        self._paths: dict[str, list[int]] = {}
        self._places: dict[str, list[int]] = {}
        self._stems: dict[str, list[tuple[int, str]]] = {}
        for task in tasks:
            for path in task.paths:
                place = path.rstrip("/")
                self._paths.setdefault(path, []).append(task.number)
                self._places.setdefault(place, []).append(task.number)
                if path.endswith(".go"):  # Go's imports name a folder
                    self._places.setdefault(dirname(path), []).append(task.number)
                stem = basename(place).partition(".")[0]
                self._stems.setdefault(stem, []).append((task.number, path))

    def imported(self, files: Iterable[str], ground: Ground) -> dict[int, str]:
        """Return the tasks that change what the files import, and which file does."""
        found: dict[int, str] = {}
        for file, name in ((f, n) for f in files for n in sorted(ground.imports(f))):
            for number in self._changing(name):
                why = f"{file} imports {name}, which task {number} changes"
                found.setdefault(number, why)
        return found

    def told_of(self, files: Iterable[str], ground: Ground) -> dict[int, str]:
        """Return the tasks that change what the documents name, and which does."""
        found: dict[int, str] = {}
        for file, (path, numbers) in product(files, self._paths.items()):
            if _names(ground.read(file), path):
                for number in numbers:
                    why = f"{file} names {path}, which task {number} changes"
                    found.setdefault(number, why)
        return found

    def named_like(self, tests: Iterable[str]) -> dict[int, str]:
        """Return the tasks that change a file whose name one of the tests has."""
        found: dict[int, str] = {}
        for test in tests:
            named = _TEST.fullmatch(basename(test))
            for number, path in self._stems.get(named["bare"], ()) if named else ():
                why = f"{test} is named after {path}, which task {number} changes"
                found.setdefault(number, why)
        return found

    def _changing(self, path: str) -> Iterator[int]:
        """Yield the tasks that declare the path, or a folder that contains it."""
        parts = path.rstrip("/").split("/")
        for length in range(len(parts), 0, -1):
            yield from self._places.get("/".join(parts[:length]), ())


def _names(text: str, path: str) -> bool:
    """Whether a text names a file, or a folder or something in it."""
    end = "" if path.endswith("/") else r"(?![\w-]|\.\w)"
    return path in text and bool(
        re.search(rf"(?<![\w./-]){re.escape(path)}{end}", text)
    )
