"""Git in memory: enough to know ancestry, what a commit carries and what conflicts.

A commit's files hold lines that nothing else writes, so that a tree tells whose work it
carries. An id is a hash of the content: the same again is the same commit.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from bot.repository.compose import Conflicted

Files = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Commit:
    """A snapshot of files, and where it came from."""

    parents: tuple[str, ...]
    files: Files
    ancestors: frozenset[str]
    """Itself too."""

    @property
    def lines(self) -> frozenset[str]:
        return frozenset(line for lines in self.files.values() for line in lines)


@dataclass
class Commits:
    """All commits there are; made once, kept for ever."""

    known: dict[str, Commit] = field(default_factory=dict)

    def __getitem__(self, commit: str) -> Commit:
        return self.known[commit]

    def make(self, parents: tuple[str, ...], files: Files, note: object = "") -> str:
        content = repr((parents, sorted(files.items()), note))
        made = hashlib.sha1(content.encode(), usedforsecurity=False).hexdigest()
        if made not in self.known:
            ancestors = frozenset({made}).union(*(self[p].ancestors for p in parents))
            self.known[made] = Commit(parents, dict(files), ancestors)
        return made

    def edit(self, parent: str, path: str, line: str) -> str:
        files = self[parent].files
        return self.make((parent,), {**files, path: (*files.get(path, ()), line)})

    def changed(self, base: str, commit: str) -> tuple[str, ...]:
        """Return the files that differ between two commits, sorted."""
        old, new = self[base].files, self[commit].files
        return tuple(p for p in sorted({*old, *new}) if old.get(p) != new.get(p))

    def contains(self, new: str, old: str) -> bool:
        return old in self[new].ancestors

    def fork_of(self, one: str, other: str) -> str | None:
        """Return the newest commit that both contain."""
        shared = self[one].ancestors & self[other].ancestors
        return max(shared, key=lambda c: (len(self[c].ancestors), c), default=None)

    def merged(self, ancestor: str, ours: str, theirs: str) -> Files | Conflicted:
        """Merge file by file: two that changed one file in two ways conflict."""
        made, paths = self._merge(ancestor, ours, theirs)
        if not paths:
            return made
        old, *sides = (self[c].files for c in (ancestor, ours, theirs))
        stay = (
            path in side and {*old.get(path, ())} <= {*side[path]}
            for path in paths
            for side in sides
        )
        return Conflicted(paths, only_adds=all(stay))

    def both(self, ancestor: str, ours: str, theirs: str) -> Files:
        """Merge file by file; one that conflicts holds what both wrote."""
        made, _ = self._merge(ancestor, ours, theirs)
        return made

    def _merge(
        self, ancestor: str, ours: str, theirs: str
    ) -> tuple[Files, tuple[str, ...]]:
        """Return the merged files, and the paths of those that conflict."""
        old, one, two = (self[c].files for c in (ancestor, ours, theirs))
        made: dict[str, tuple[str, ...]] = {}
        paths: list[str] = []
        for path in sorted({*old, *one, *two}):
            before, mine, other = (f.get(path, ()) for f in (old, one, two))
            made[path] = other if mine == before else mine
            if mine != other and before not in (mine, other):
                own = (line for line in other if line not in {*mine, *before})
                made[path] = (*mine, *own)
                paths.append(path)
        return made, tuple(paths)

    def chain(self, base: str, work: str) -> Iterator[str]:
        if work not in self[base].ancestors:
            yield from self.chain(base, self[work].parents[0])
            yield work
