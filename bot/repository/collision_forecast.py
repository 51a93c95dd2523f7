"""Estimates from history how likely a plan's parallel tasks collide."""

from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Final

import pygit2

from bot.repository.recent_changes import commits_lately, hunks_of
from convoy.model.records import Overlap, TaskSpec
from convoy.model.task_graph import waits
from convoy.planner.ground import (
    RECENT,
    FileHistory,
    Hunk,
    Reach,
    collision_risk,
    reach,
)

WORTH_SAYING: Final = 0.05
MOST: Final = 10
"""The most pairs of tasks reported, and the most files for each pair."""
FILES: Final = 200
"""The most files whose changes are read: those that tasks likeliest share."""
_BLOB_BYTES: Final = 1_000_000


def foreseen(path: Path, commit: str, tasks: Iterable[TaskSpec]) -> tuple[Overlap, ...]:
    """Return which parallel tasks may collide, the likeliest pair first.

    Args:
        path: the repository, bare or not; none of its code is run.
        commit: the commit from which the tasks start.
        tasks: the plan's tasks; those without declared paths are left out.
    """
    specs = {task.number: task for task in tasks}
    at_once = [
        pair
        for pair in combinations([n for n, task in specs.items() if task.paths], 2)
        if not waits(specs, *pair) and not waits(specs, *reversed(pair))
    ]
    if not at_once:
        return ()
    changed = commits_lately(path, commit)
    reaches = {n: reach(specs[n].paths, changed.values()) for n in {*sum(at_once, ())}}
    past = _past(path, commit, changed, reaches)
    found = (
        (pair, collision_risk(reaches[pair[0]], reaches[pair[1]], past))
        for pair in at_once
    )
    overlaps = [
        Overlap(
            one=one,
            other=other,
            chance=round(each.chance, 2),
            files=each.files[:MOST],
        )
        for (one, other), each in found
        if each.chance >= WORTH_SAYING
    ]
    return tuple(sorted(overlaps, key=lambda o: (-o.chance, o.one, o.other))[:MOST])


def _past(
    path: Path,
    commit: str,
    changed: Mapping[str, tuple[str, ...]],
    reaches: Mapping[int, Reach],
) -> FileHistory:
    files = _met(reaches.values())
    wanted: dict[str, int] = dict.fromkeys(files, RECENT)
    commits = []
    for name, touched in changed.items():
        if here := [file for file in touched if wanted.get(file)]:
            commits.append(name)
            wanted.update((file, wanted[file] - 1) for file in here)
    did: dict[str, list[tuple[Hunk, ...]]] = hunks_of(path, commits, files)
    tree = pygit2.Repository(str(path))[commit].peel(pygit2.Tree)
    lines = {file: _lines(tree, file) for file in files}
    return FileHistory(
        hunks=lambda file: did.get(file, ()),
        lines=lambda file: lines.get(file, 0),
    )


def _met(reaches: Iterable[Reach]) -> list[str]:
    """Return the files that more than one task may touch, the likeliest first."""
    seen: dict[str, list[float]] = {}
    for each in reaches:
        for file, chance in each.files.items():
            seen.setdefault(file, []).append(chance)
    met = {file: sum(chances) for file, chances in seen.items() if len(chances) > 1}
    return sorted(met, key=lambda file: (-met[file], file))[:FILES]


def _lines(tree: pygit2.Tree, file: str) -> int:
    try:
        found = tree[file]
    except KeyError:
        return 0
    if not isinstance(found, pygit2.Blob) or found.size > _BLOB_BYTES:
        return 0
    return found.data.count(b"\n")
