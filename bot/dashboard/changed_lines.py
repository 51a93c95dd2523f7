"""What a commit changes since another one: files and lines, counted in a repository."""

from collections.abc import Callable
from pathlib import Path

import pygit2
from msgspec import Struct


class Changes(Struct, frozen=True):
    """How many files a commit changes, and how many lines."""

    files: int
    added: int
    removed: int


def unknown_changes(_commit: str, _base: str) -> Changes | None:
    """Return that it is not known."""
    return None


def changes_in(path: Path) -> Callable[[str, str], Changes | None]:
    """Return what counts changes between two commits of the repository at `path`.

    It answers None where a commit is not there, as in a clone without the work.
    """

    def changes(commit: str, base: str) -> Changes | None:
        repository = pygit2.Repository(str(path))
        try:
            found = repository.diff(base, commit).stats
        except (KeyError, ValueError, pygit2.GitError):
            return None
        return Changes(found.files_changed, found.insertions, found.deletions)

    return changes
