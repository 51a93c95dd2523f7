"""How likely two changes are to collide, before either is made. Pure.

An estimate from what the two declare, how large those files are, and what earlier
commits did to them. docs/decisions/0031 says where the weights come from.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, log1p, prod
from posixpath import dirname
from typing import Final

from convoy.planner.hunks import Hunk
from convoy.planner.together import SWEEPING

RECENT: Final = 20
"""How many changes of a file are considered."""
NEGLIGIBLE: Final = 0.01
"""The lowest probability worth reporting."""

BEYOND: Final = 0.5
"""How far a plan's change is thought to go beyond what it declares."""
_USUAL: Final = 0.3
"""How often a change meets the one before it, if the file's history is unknown."""
_WEIGHT: Final = 2
"""How many observed changes that prior counts as."""
_UNSEEN: Final = 0.01
"""The probability that both touch one more file, if they work in the same folder."""
_START, _MET, _LINES, _BREADTH = 0.30, 0.56, -0.14, -0.20
"""Fitted: docs/decisions/0031."""


@dataclass(frozen=True, kw_only=True)
class Past:
    """What is known about the files at the commit that both changes start from."""

    hunks: Callable[[str], Sequence[tuple[Hunk, ...]]]
    """What each commit that changed a file did to it, the newest first."""
    lines: Callable[[str], int]
    """How long a file is; 0: it is not there yet."""


@dataclass(frozen=True)
class Risk:
    """How likely two changes are to collide (0 to 1), and in which files."""

    chance: float
    files: tuple[str, ...] = ()
    """The likeliest first."""


@dataclass(frozen=True)
class Reach:
    """What a change may touch."""

    declared: tuple[str, ...]
    """The files and folders it declares; a folder ends in a slash."""
    files: Mapping[str, float]
    """Each file it may touch, with the probability, from 0 to 1."""


def reach(
    declared: Collection[str],
    commits: Iterable[tuple[str, ...]],
    beyond: float = BEYOND,
) -> Reach:
    """Return what a change that declares these paths may touch.

    Args:
        declared: files, and folders with a slash at their end.
        commits: the files of each of the last commits, in any order.
        beyond: how far it is thought to go beyond what it declares, as changes before
            it did; 0: not at all.
    """
    exact = {path for path in declared if not path.endswith("/")}
    inside = tuple(path for path in declared if path.endswith("/"))
    times, beside = Counter[str](), Counter[tuple[str, str]]()
    for commit in commits if beyond or inside else ():
        if len(commit) > SWEEPING:
            continue
        touched = {file for file in commit if file in exact}
        touched.update(p for p in inside if any(f.startswith(p) for f in commit))
        times.update(touched)
        beside.update((path, file) for path in touched for file in commit)
    found: dict[str, float] = {}
    for (path, file), count in beside.items():
        is_inside = path.endswith("/") and file.startswith(path)
        chance = count / (times[path] + _WEIGHT) * (1 if is_inside else beyond)
        found[file] = max(found.get(file, 0.0), chance)
    return Reach(tuple(declared), {**found, **dict.fromkeys(exact, 1.0)})


def risk(one: Reach, other: Reach, past: Past) -> Risk:
    """Return how likely two changes are to collide; their order does not matter."""
    breadth = log(max(len(one.declared), 1)) + log(max(len(other.declared), 1))
    both = (
        (one.files[file] * other.files[file], file)
        for file in one.files.keys() & other.files.keys()
    )
    found = sorted(
        (
            (touched * _collide(file, breadth, past), file)
            for touched, file in both
            if touched >= NEGLIGIBLE
        ),
        key=lambda each: (-each[0], each[1]),
    )
    near = {*map(dirname, one.declared)} & {*map(dirname, other.declared)}
    clear = prod(1 - chance for chance, _ in found) * (1 - _UNSEEN * bool(near))
    likely = tuple(file for chance, file in found if chance >= NEGLIGIBLE)
    return Risk(1 - clear, likely)


def _collide(file: str, breadth: float, past: Past) -> float:
    """Return how likely two changes of the file are to touch the same lines."""
    met = _meeting(past.hunks(file))
    length = _LINES * log1p(past.lines(file))
    odds = _START + _MET * log(met / (1 - met)) + length + _BREADTH * breadth
    return 1 / (1 + exp(-odds))


def _meeting(changes: Sequence[tuple[Hunk, ...]]) -> float:
    """Return how often a change of a file touches lines that the one before wrote.

    Line numbers are comparable only between neighbouring changes.
    """
    recent = changes[:RECENT]
    pairs = [*zip(recent[1:], recent, strict=False)]
    met = sum(_touch(older, newer) for older, newer in pairs)
    return (met + _WEIGHT * _USUAL) / (len(pairs) + _WEIGHT)


def _touch(older: tuple[Hunk, ...], newer: tuple[Hunk, ...]) -> bool:
    wrote = [_span(start, count) for _, _, start, count in older]
    meets = [_span(start, count) for start, count, _, _ in newer]
    return any(a <= d and c <= b for a, b in wrote for c, d in meets)


def _span(start: int, count: int) -> tuple[int, int]:
    """Return the gaps between lines that a hunk reaches; next to it is a conflict."""
    return (start - 1, start - 1 + count) if count else (start, start)
