"""How often two real branches that changed one file conflict."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import pygit2

from benchmarks.conflict_corpus.conflicting_merges import History, Merge

LOOKED_AT: int = 300
"""So many merges of one project are looked at, from all over its history."""


@dataclass(frozen=True)
class SharedFiles:
    """The merges of a history whose two sides both changed something."""

    merges: int = 0
    sharing: int = 0
    """Both sides changed a file of the same path."""
    conflicts: int = 0
    both: int = 0
    """They share a file, and conflict."""

    def __add__(self, other: "SharedFiles") -> "SharedFiles":
        return SharedFiles(
            self.merges + other.merges,
            self.sharing + other.sharing,
            self.conflicts + other.conflicts,
            self.both + other.both,
        )


def shared_files(history: History) -> SharedFiles:
    """Count merges by whether their sides share a file and whether they conflict."""
    every = [*_two_sided(history)]
    some = every
    if len(every) > LOOKED_AT:
        some = Random(0).sample(every, LOOKED_AT)  # noqa: S311  the same each time
    conflicting = {each.commit for each in history.conflicting(some)}
    sharing = {each.commit for each in some if _share(history.repo, each)}
    return SharedFiles(
        len(some), len(sharing), len(conflicting), len(sharing & conflicting)
    )


def _two_sided(history: History) -> Iterator[Merge]:
    """Give the merges in which no side is simply ahead of the other."""
    for merge in history.merges():
        base = history.repo.merge_base(merge.ours, merge.theirs)
        if str(base) not in {merge.ours, merge.theirs}:
            yield merge


def _share(repo: pygit2.Repository, merge: Merge) -> bool:
    base = repo.merge_base(merge.ours, merge.theirs)
    return bool(
        _changed(repo, str(base), merge.ours) & _changed(repo, str(base), merge.theirs)
    )


def _changed(repo: pygit2.Repository, old: str, new: str) -> set[str]:
    return {delta.new_file.path for delta in repo.diff(old, new).deltas}
