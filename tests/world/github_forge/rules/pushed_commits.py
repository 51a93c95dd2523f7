"""What a push brings in, read from git.

It may still lie in quarantine: the repository is opened with it as a further store of
objects, for the length of one push, and may be used in a thread.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

import pygit2
from pygit2.enums import SortMode

from brat.forge.storage.git_storage import target_of
from tests.world.github_forge.shapes import MergeMethod

CheckState = Literal["pending", "failing", "green"]
Checks = Mapping[str, Mapping[int, CheckState]]
"""By the check's name and the id of the App that reported it; 0: a status."""


@dataclass(frozen=True, slots=True)
class PushedCommit:
    sha: str
    parents: int


@dataclass(frozen=True, slots=True)
class MergedPull:
    method: MergeMethod
    approvals: int
    """By people who may write."""
    by_author: bool
    """Whether who merges it opened it."""
    up_to_date: bool
    """Whether its head has everything that its base has."""


@dataclass(frozen=True, slots=True)
class RefChange:
    """A ref, its old and its new value, and what that brings in."""

    ref: str
    before: str | None
    after: str | None
    forced: bool = False
    """Whether something that the ref had is gone afterwards."""
    commits: tuple[PushedCommit, ...] = ()
    """Those the ref did not have, newest first."""
    checks: Checks = field(default_factory=dict)
    """Of the commit that is judged: the new value, or a pull request's head."""
    signed: Collection[str] = ()
    """The commits that the forge made and signed."""
    pull: MergedPull | None = None
    """None: a push, or a ref moved by REST."""

    def brought_up_to_date(self) -> "RefChange":
        """Return the merge of the same pull request, as if it had all of its base."""
        pull = self.pull
        return replace(self, pull=pull and replace(pull, up_to_date=True))

    @property
    def is_new(self) -> bool:
        return self.before is None


_WORKFLOWS: Final = ".github/workflows"


class PushedObjects:
    def __init__(self, bare: Path, incoming: Path | None) -> None:
        """Read `bare`, and the folder of objects `incoming`; None: nothing new."""
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

    def pushed(self, commits: Iterable[pygit2.Commit]) -> tuple[PushedCommit, ...]:
        """Return commits as the rules look at them."""
        return tuple(PushedCommit(str(one.id), len(one.parent_ids)) for one in commits)

    def changed_workflow(self, commits: Iterable[pygit2.Commit]) -> str | None:
        for one in commits:
            mine = self._workflows(one)
            theirs = [self._workflows(parent) for parent in one.parents]
            for path, blob in mine.items():
                if all(each.get(path) != blob for each in theirs):
                    return path
        return None

    def _workflows(self, one: pygit2.Commit) -> dict[str, pygit2.Oid]:
        try:
            folder = one.tree[_WORKFLOWS]
        except KeyError:
            return {}
        if not isinstance(folder, pygit2.Tree):
            return {}
        return {f"{_WORKFLOWS}/{entry.name}": entry.id for entry in folder}
