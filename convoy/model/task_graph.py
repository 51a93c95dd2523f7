"""What tasks wait for, and what they declare: a plan's graph, paths and resources.

Pure. Edges point from a task to what it waits for. The order of everything returned
depends on the numbers only, so that two bots that fold the same log agree. Whether a
path is code, a test or a document is judged by its name.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from typing import Final, Literal

from msgspec.structs import replace

from convoy.model.records import TaskSpec, Wait


def order(tasks: Iterable[TaskSpec]) -> tuple[int, ...]:
    """Return all numbers, each after those it waits for, the smallest first.

    A dependency on a number that is not among `tasks` counts as met.

    Raises:
        CycleError: the tasks wait for each other in a cycle.
    """
    return _placed(tuple((task.number, task.after) for task in tasks))


@lru_cache(maxsize=64)  # a page asks for the same order many times
def _placed(plan: tuple[tuple[int, tuple[int, ...]], ...]) -> tuple[int, ...]:
    return tuple(in_turn(dict(plan), lambda _: ()))


def in_turn(
    after: Mapping[int, Iterable[int]], place: Callable[[int], tuple[int, ...]]
) -> Iterator[int]:
    """Yield all numbers, each after those it waits for, by place and number.

    Raises as `order`, before anything is given.
    """
    sorter = TopologicalSorter(
        {number: [n for n in wanted if n in after] for number, wanted in after.items()}
    )
    sorter.prepare()
    ready: list[tuple[tuple[int, ...], int]] = []
    while sorter.is_active():
        for number in sorter.get_ready():
            heappush(ready, (place(number), number))
        _, number = heappop(ready)
        yield number
        sorter.done(number)


def waits(tasks: Mapping[int, TaskSpec], task: int, on: int) -> bool:
    """Return whether a task waits for another one, directly or through others."""
    return on in reached(lambda n: tasks[n].after if n in tasks else (), [task])


def reached(onward: Callable[[int], Iterable[int]], start: Iterable[int]) -> set[int]:
    """Return the numbers to which one gets from some, at any remove, and these."""
    found = {*start}
    left = [*found]
    while left:
        new = {*onward(left.pop())} - found
        found |= new
        left += new
    return found


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
    found: list[TaskSpec] = []
    for spec in specs:
        if number not in spec.after:
            found.append(spec)
            continue
        overlap = spec.overlaps(number)
        why = next((wait.why for wait in spec.waits if wait.on == number), "")
        told = f"it is part of task {number}" + (f": {why}" if why else "")
        waits = (wait for wait in spec.waits if wait.on != number)
        new = (Wait(part.number, told, overlap=overlap) for part in parts)
        after = {*spec.after, *(part.number for part in parts)} - {number}
        linked = replace(spec, after=tuple(sorted(after)), waits=(*waits, *new))
        found.append(linked)
    return (*found, *parts)


LONGEST_PATH = 400
HIGHEST_PORT = 65_535

_ABSOLUTE = re.compile(r"[/~\\]|[A-Za-z]:")
_PORT = re.compile(r"port:([1-9][0-9]{0,4})")
_SERVICE = re.compile(r"service:[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def declared_path(text: str) -> str:
    """Return a path in its normal form: no `./`, no `//`; a folder ends in a slash.

    Raises:
        ValueError: it is not below the repository's top, or names more than one thing.
    """
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if _ABSOLUTE.match(text):
        raise ValueError(f'the path "{text}" must be relative to the repository\'s top')
    if ".." in parts:
        raise ValueError(f'the path "{text}" must not contain ".."')
    if not parts or len(text) > LONGEST_PATH:
        raise ValueError(f'the path "{text[:60]}" must name a file or a folder')
    if set(text) & set("*?\\"):
        raise ValueError(
            f'the path "{text}" must name one file or folder, without *, ? or \\'
        )
    return "/".join(parts) + ("/" if text.endswith(("/", "/.")) else "")


def declared_need(text: str) -> str:
    """Return a resource as it was written.

    Raises:
        ValueError: it is neither `port:NUMBER` nor `service:NAME`.
    """
    port = _PORT.fullmatch(text)
    if (port and int(port[1]) <= HIGHEST_PORT) or _SERVICE.fullmatch(text):
        return text
    raise ValueError(
        f'the resource "{text[:60]}" must be port:NUMBER (1 to 65535) or service:NAME'
    )


Area = Literal["code", "tests", "docs", "nothing"]

_DEPENDENCIES: Final = re.compile(
    r"(^|/)(requirements[^/]*\.txt|pyproject\.toml|setup\.(py|cfg)|package\.json|go\.mod"
    r"|Cargo\.toml|Gemfile|pom\.xml|build\.gradle[^/]*|[^/]*\.lock|package-lock\.json)$"
)
_TEST: Final = re.compile(
    r"(^|/)(tests?|specs?|__tests__|testdata)/|(^|/)(test_[^/]*|conftest\.py)$"
    r"|[._-](test|spec)s?\.\w+$"
)
_DOCS: Final = re.compile(r"(^|/)docs?/|\.(md|rst|adoc|txt)$|(^|/)LICENSE[^/]*$")


def area_of(paths: Iterable[str]) -> Area:
    """Return the area of several paths: code before tests, tests before documents."""
    areas = {area_of_path(path) for path in paths}
    found: tuple[Area, ...] = ("code", "tests", "docs")
    return next((area for area in found if area in areas), "nothing")


def area_of_path(path: str) -> Area:
    """Return the area of one path; build files are code."""
    if _TEST.search(path):
        return "tests"
    if _DEPENDENCIES.search(path):
        return "code"
    return "docs" if _DOCS.search(path) else "code"
