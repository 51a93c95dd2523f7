"""Reads the changes of a stranger's commits, one by one, within limits.

A few hundred bytes can describe ten levels of folders that each hold the next one ten
times; git would list ten thousand million files. Here each step is counted, and too
many steps raise `TooMuch`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pygit2

from convoy.gate import GONE, PathChange, path_change
from grite.errors import BratError

COMMITS_MOST: Final = 1_000
COMMIT_BYTES: Final = 100_000
"""The size limit of a commit object without its files: mostly its message."""
LOOKED_MOST: Final = 2_000_000
"""The most folder entries read, over all commits."""
CHANGED_MOST: Final = 50_000
DEPTH_MOST: Final = 100
_Kind: Final = pygit2.enums.ObjectType


class TooMuch(BratError):
    """The work is too large to be examined; the message is a sentence saying why."""


class Touched(NamedTuple):
    """One commit's change to one path."""

    change: PathChange
    blob: str
    """The id of the file's new content; empty: it has none."""


class CommitRange:
    """Reads ranges of commits in one repository; all reads share the same limits."""

    def __init__(self, repository: Path) -> None:
        self._repo = pygit2.Repository(str(repository))
        self._looked = self._changed = 0

    def whole(self, base: str, commit: str) -> list[Touched]:
        """Return the changes from `base` to `commit`.

        Raises:
            TooMuch: there is too much to read.
        """
        return list(self._between(self._tree(base), self._tree(commit)))

    def steps(self, base: str, commit: str) -> list[Touched]:
        """Return the changes of each commit after `base` against each of its parents.

        Raises:
            TooMuch: there is too much to read.
        """
        found: list[Touched] = []
        for count, each in enumerate(self._commits(base, commit), 1):
            if count > COMMITS_MOST:
                raise TooMuch(f"The work has over {COMMITS_MOST} commits.")
            if len(each.read_raw()) > COMMIT_BYTES:
                raise TooMuch(f"A commit's message has over {COMMIT_BYTES} bytes.")
            for parent in each.parent_ids or (None,):
                before = self._tree(str(parent)) if parent else None
                found += self._between(before, each.tree)
        return found

    def _commits(self, base: str, commit: str) -> Iterator[pygit2.Commit]:
        walk = self._repo.walk(commit, pygit2.enums.SortMode.NONE)
        walk.hide(base)
        return iter(walk)

    def _tree(self, commit: str) -> pygit2.Tree:
        return self._repo[commit].peel(pygit2.Commit).tree

    def _between(
        self, before: pygit2.Tree | None, after: pygit2.Tree
    ) -> Iterator[Touched]:
        left: list[tuple[bytes, int, pygit2.Object | None, pygit2.Object | None]]
        left = [(b"", 0, before, after)]
        while left:
            folder, depth, old, new = left.pop()
            if depth > DEPTH_MOST:
                raise TooMuch(f"The work has over {DEPTH_MOST} folders in each other.")
            olds, news = self._entries(old), self._entries(new)
            for name in olds.keys() | news.keys():
                was, now = olds.get(name), news.get(name)
                if was and now and (was.id, was.filemode) == (now.id, now.filemode):
                    continue
                path = folder + name
                yield from self._files(path, was, now)
                if _is_folder(was) or _is_folder(now):
                    left.append((path + b"/", depth + 1, was, now))

    def _files(
        self, path: bytes, was: pygit2.Object | None, now: pygit2.Object | None
    ) -> Iterator[Touched]:
        if not (_is_file(was) or _is_file(now)):
            return
        self._changed += 1
        if self._changed > CHANGED_MOST:
            raise TooMuch(f"The work changes over {CHANGED_MOST} files.")
        blobs = (str(each.id) if each is not None else "" for each in (was, now))
        name = path.decode(errors="surrogateescape")
        change = path_change(name, _mode(was), _mode(now), *blobs)
        holds = now is not None and now.type == _Kind.BLOB
        yield Touched(change, str(now.id) if now is not None and holds else "")

    def _entries(self, tree: pygit2.Object | None) -> dict[bytes, pygit2.Object]:
        if not isinstance(tree, pygit2.Tree):
            return {}
        self._looked += len(tree)
        if self._looked > LOOKED_MOST:
            raise TooMuch(f"The work has over {LOOKED_MOST} entries in its folders.")
        return {each.raw_name or b"": each for each in tree}


def _is_folder(entry: pygit2.Object | None) -> bool:
    return entry is not None and entry.type == _Kind.TREE


def _is_file(entry: pygit2.Object | None) -> bool:
    return entry is not None and entry.type != _Kind.TREE


def _mode(entry: pygit2.Object | None) -> str:
    return f"{entry.filemode:06o}" if entry is not None and _is_file(entry) else GONE
