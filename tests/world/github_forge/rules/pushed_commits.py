"""The commits that a ref would get, read from git.

What is read may still lie in quarantine: the repository is opened with it as a further
store of objects, for the length of one push, and may be used in a thread.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Final

import pygit2
from pygit2.enums import ObjectType, SortMode

from brat.forge.storage.git_storage import target_of
from tests.world.github_forge.rules.ref_change import PushedCommit, PushedFile

_WORKFLOWS: Final = ".github/workflows"


class PushedObjects:
    """A repository, and the objects of a push that it does not have yet."""

    def __init__(self, bare: Path, incoming: Path | None) -> None:
        """Read `bare`, and the folder of objects `incoming`; None: nothing new."""
        self._incoming = incoming
        self.git = pygit2.Repository(str(bare))
        if incoming is not None:
            self.git.odb.add_disk_alternate(str(incoming))

    @cached_property
    def _tips(self) -> tuple[pygit2.Commit, ...]:
        """The commits that any ref of the repository points at."""
        found = (target_of(ref) for ref in self.git.references.iterator())
        tips = (self.commit(each) for each in dict.fromkeys(found) if each is not None)
        return tuple(each for each in tips if each is not None)

    def commit(self, sha: str) -> pygit2.Commit | None:
        """Return a commit, also through a tag; None: it is no commit, or not here."""
        try:
            return self.git[sha].peel(pygit2.Commit)
        except (KeyError, ValueError, pygit2.GitError):
            return None

    def is_forced(self, before: str | None, after: str | None) -> bool:
        """Say whether a ref would lose something that it had."""
        if before is None or after is None or before == after:
            return False
        old, new = self.commit(before), self.commit(after)
        if old is None or new is None:
            return True
        return old.id != new.id and not self.git.descendant_of(new.id, old.id)

    def new_to(self, before: str | None, after: str) -> Iterator[pygit2.Commit]:
        """Yield the commits a ref gets, newest first; for a new ref, no ref's yet."""
        tip = self.commit(after)
        if tip is None:
            return
        walk = self.git.walk(tip.id, SortMode.TOPOLOGICAL)
        old = self.commit(before) if before is not None else None
        for known in (old,) if old is not None else self._tips:
            walk.hide(known.id)
        yield from walk

    def pushed(
        self, commits: Iterable[pygit2.Commit], *, with_files: bool
    ) -> tuple[PushedCommit, ...]:
        """Return commits as the rules look at them."""
        return tuple(
            PushedCommit(
                sha=str(one.id),
                parents=len(one.parent_ids),
                files=tuple(self._files(one)) if with_files else (),
            )
            for one in commits
        )

    def changed_workflow(self, commits: Iterable[pygit2.Commit]) -> str | None:
        """Return a workflow file that one of the commits creates or updates."""
        for one in commits:
            mine = self._workflows(one)
            theirs = [self._workflows(parent) for parent in one.parents]
            for path, blob in mine.items():
                if all(each.get(path) != blob for each in theirs):
                    return path
        return None

    def _files(self, one: pygit2.Commit) -> Iterator[PushedFile]:
        for path, blob in self.changes(one):
            _, size = self.git.odb.read_header(blob)
            yield PushedFile(path, size)

    def changes(self, one: pygit2.Commit) -> Iterator[tuple[str, pygit2.Oid]]:
        """Yield path and blob of the files that a commit has and no parent so."""
        if not one.parents:
            first, others = one.tree.diff_to_tree(swap=True), []
        else:
            first = one.parents[0].tree.diff_to_tree(one.tree)
            others = [parent.tree for parent in one.parents[1:]]
        for delta in first.deltas:
            path, blob = delta.new_file.path, delta.new_file.id
            is_file = delta.new_file.mode & 0o170000 in {0o100000, 0o120000}
            if is_file and not any(_has(tree, path, blob) for tree in others):
                yield path, blob

    def large(self, most: int) -> set[pygit2.Oid]:
        """Return the new blobs of more than `most` bytes."""
        return {oid for oid in self.blobs() if self.git.odb.read_header(oid)[1] > most}

    def blobs(self) -> Iterator[pygit2.Oid]:
        """Yield the blobs that came with the push."""
        if self._incoming is not None:
            for oid in pygit2.Odb(str(self._incoming)):
                if self.git.odb.read_header(oid)[0] == ObjectType.BLOB:
                    yield oid

    def _workflows(self, one: pygit2.Commit) -> dict[str, pygit2.Oid]:
        try:
            folder = one.tree[_WORKFLOWS]
        except KeyError:
            return {}
        if not isinstance(folder, pygit2.Tree):
            return {}
        return {f"{_WORKFLOWS}/{entry.name}": entry.id for entry in folder}


def _has(tree: pygit2.Tree, path: str, blob: pygit2.Oid) -> bool:
    try:
        return tree[path].id == blob
    except KeyError:
        return False
