"""One bare repository on disk, read and moved by pygit2.

Everything here is fast enough for the event loop (well below a millisecond on small
repositories). Moving a ref is not compare-and-swap: the caller holds the repository's
lock, under which pushes run too.
"""

import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import pygit2

from grite import git

_CONFIG: Final = (
    ("uploadpack.allowAnySHA1InWant", "true"),
    ("receive.autogc", "false"),
    ("gc.auto", "0"),
    ("core.fsync", "none"),
    ("core.logAllRefUpdates", "false"),
)


@dataclass(frozen=True, slots=True)
class Move:
    """The move of one ref; None: the ref did not exist before, or is deleted."""

    ref: str
    before: str | None
    after: str | None


def target_of(ref: pygit2.Reference) -> str | None:
    """Return the object that a ref leads to; None: it leads to a ref that is not."""
    try:
        return str(ref.resolve().target)
    except KeyError:
        return None


class Bare:
    """A bare repository; commits are 40 hex digits, refs are full names."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def git(self) -> pygit2.Repository:
        return pygit2.Repository(str(self.path))

    def close(self) -> None:
        """Let go of its files; safe to call twice."""
        if "git" in self.__dict__:
            self.git.free()
            del self.__dict__["git"]

    # --- refs ---------------------------------------------------------------------

    def ref(self, name: str) -> str | None:
        """Return what a ref points at; None when there is no such ref."""
        try:
            return target_of(self.git.lookup_reference(name))
        except (KeyError, ValueError):  # ValueError: not a name git would take
            return None

    @property
    def head(self) -> str:
        """The full name of the default branch, which may not exist yet."""
        return str(self.git.lookup_reference("HEAD").target)

    def tip(self, branch: str) -> str | None:
        """Return the tip of a branch, given without refs/heads/."""
        return self.ref(f"refs/heads/{branch}")

    def refs(self, prefix: str = "refs/") -> dict[str, str]:
        """Return every ref that starts with `prefix`, in order.

        They are read in one pass: pygit2 1.21 keeps each name that a lookup is given,
        and a forge asks for all of them at every push.
        """
        refs = self.git.references.iterator()
        named = ((ref.name, ref) for ref in refs if ref.name.startswith(prefix))
        found = ((name, target_of(ref)) for name, ref in named)
        return {name: target for name, target in sorted(found) if target is not None}

    def move(self, name: str, target: str | None) -> None:
        """Point a ref at an object, or delete it (None)."""
        if target is None:
            self.git.lookup_reference(name).delete()
        else:
            self.git.references.create(name, target, force=True)

    def copy(self, source: Path, branch: str) -> None:
        refspec = f"refs/heads/{branch}:refs/heads/{branch}"
        asked = ["fetch", "--quiet", "--no-tags", str(source), refspec]
        git.run(asked, cwd=self.path)

    # --- commits ------------------------------------------------------------------

    def resolve(self, revision: str) -> str | None:
        """Return the commit that a branch, tag, full ref or commit id names."""
        for name in (f"refs/heads/{revision}", f"refs/tags/{revision}", revision):
            target = self.ref(name) if name.startswith("refs/") else name
            commit = self.commit(target) if target else None
            if commit is not None:
                return str(commit.id)
        return None

    def kind(self, sha: str) -> str | None:
        """Return `commit`, `tree`, `blob` or `tag`; None: it is no object's full id."""
        try:
            found = self.git.get(sha)
        except ValueError:
            return None
        return found.type_str if found is not None and str(found.id) == sha else None

    def commit(self, sha: str) -> pygit2.Commit | None:
        """Return a commit by its full id (a tag's id gives what it points at)."""
        try:
            found = self.git.get(sha)
            return found.peel(pygit2.Commit) if found is not None else None
        except (ValueError, pygit2.InvalidSpecError):
            return None

    def reaches(self, tip: str, commit: str) -> bool:
        """Say whether `commit` is `tip` or an ancestor of it."""
        if tip == commit:
            return True
        try:
            return self.git.descendant_of(tip, commit)
        except (KeyError, pygit2.GitError):  # one of them is not here
            return False

    def fork_point(self, one: str, other: str) -> str | None:
        """Return the best common ancestor; None when histories are unrelated."""
        found = self.git.merge_base(one, other)
        return str(found) if found else None

    # --- content ------------------------------------------------------------------

    def file(self, commit: str, path: str) -> pygit2.Blob | None:
        """Return a file of a commit; None when there is none at that path."""
        top = self.commit(commit)
        try:
            found = top.tree[path] if top is not None and path else None
        except KeyError:
            return None
        return found if isinstance(found, pygit2.Blob) else None


def create(path: Path, source: Path | None, branch: str) -> None:
    """Make a bare repository with a copy of one branch of `source`, or empty.

    It is whole or not there. What a process that died here left is replaced.
    """
    making = path.with_suffix(".making")
    shutil.rmtree(making, ignore_errors=True)
    shutil.rmtree(path, ignore_errors=True)
    making.mkdir(parents=True)
    git.run(["init", "--quiet", "--bare", "-b", branch, "--template=", str(making)])
    if source is not None:
        Bare(making).copy(source, branch)
    made = pygit2.Repository(str(making))
    for key, value in _CONFIG:
        made.config[key] = value
    made.free()
    making.rename(path)
