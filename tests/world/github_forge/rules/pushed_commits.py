"""Secrets in what is pushed: a few of the patterns that GitHub blocks pushes for.

What is read may still lie in quarantine: the repository is opened with it as a further
store of objects, for the length of one push, and may be used in a thread.

https://docs.github.com/code-security/secret-scanning/introduction/supported-secret-scanning-patterns
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

import pygit2
from pygit2.enums import ObjectType, SortMode

from brat.forge.storage.git_storage import target_of
from tests.world.github_forge.shapes import MergeMethod

CheckState = Literal["pending", "failing", "green"]
Checks = Mapping[str, Mapping[int, CheckState]]
"""By the check's name and the id of the App that reported it; 0: a status."""


@dataclass(frozen=True, slots=True)
class PushedCommit:
    """A commit that comes in."""

    sha: str
    parents: int


@dataclass(frozen=True, slots=True)
class MergedPull:
    """The pull request whose merge moves the ref."""

    method: MergeMethod
    approvals: int
    """By people who may write, of its head where stale reviews do not count."""
    approvals_ever: int
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

    @property
    def kind(self) -> str:
        """GitHub's word for it in its sentences."""
        return "tag" if self.ref.startswith("refs/tags/") else "branch"


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

    def pushed(self, commits: Iterable[pygit2.Commit]) -> tuple[PushedCommit, ...]:
        """Return commits as the rules look at them."""
        return tuple(PushedCommit(str(one.id), len(one.parent_ids)) for one in commits)

    def changed_workflow(self, commits: Iterable[pygit2.Commit]) -> str | None:
        """Return a workflow file that one of the commits creates or updates."""
        for one in commits:
            mine = self._workflows(one)
            theirs = [self._workflows(parent) for parent in one.parents]
            for path, blob in mine.items():
                if all(each.get(path) != blob for each in theirs):
                    return path
        return None

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


MOST_SCANNED: Final = 10 << 20
"""Bytes of a file; a larger one is not looked into."""
_PATTERNS: Final = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("GitHub Personal Access Token", rb"\bghp_[A-Za-z0-9]{36}\b"),
        (
            "GitHub Personal Access Token",
            rb"\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b",
        ),
        ("GitHub OAuth Access Token", rb"\bgho_[A-Za-z0-9]{36}\b"),
        ("GitHub App Installation Access Token", rb"\bghs_[A-Za-z0-9]{36}\b"),
        ("Amazon AWS Access Key ID", rb"\bAKIA[A-Z2-7]{16}\b"),
        ("Anthropic API Key", rb"\bsk-ant-api03-[A-Za-z0-9_-]{93}AA\b"),
        ("Slack API Token", rb"\bxoxb-[0-9]{10,13}-[0-9]{10,13}-[A-Za-z0-9]{24}\b"),
    )
)


@dataclass(frozen=True, slots=True)
class FoundSecret:
    """A secret in a commit: its kind and its place, never itself."""

    kind: str
    commit: str
    path: str
    line: int
    mark: str
    """Tells it from others, in the address where people would allow it."""


class SecretScan:
    """The secrets in the new files of one push; each file is read once."""

    def __init__(self, objects: PushedObjects) -> None:
        self._objects = objects
        self._by_blob = {
            oid: found for oid in objects.blobs() if (found := self._look(oid))
        }

    def found_in(self, commits: Iterable[pygit2.Commit]) -> Iterator[FoundSecret]:
        """Yield the secrets that commits bring in."""
        if not self._by_blob:
            return
        for one in commits:
            for path, blob in self._objects.changes(one):
                for kind, line, mark in self._by_blob.get(blob, ()):
                    yield FoundSecret(kind, str(one.id), path, line, mark)

    def _look(self, oid: pygit2.Oid) -> tuple[tuple[str, int, str], ...]:
        odb = self._objects.git.odb
        if odb.read_header(oid)[1] > MOST_SCANNED:
            return ()
        _, data = odb.read(oid)
        return tuple(
            (
                name,
                data.count(b"\n", 0, match.start()) + 1,
                sha256(match[0]).hexdigest()[:27],
            )
            for name, pattern in _PATTERNS
            for match in pattern.finditer(data)
        )
