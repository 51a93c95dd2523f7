"""Commits that hold files, written and read; libgit2's errors are turned into ours.

Nothing here moves a ref, so what a process that dies leaves behind is only garbage.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pygit2

from grite.errors import Corrupt, Missing, Unavailable

WAL_MAIL: Final = "grit@local"  # grit: so it is written in grite's source.
UNREADABLE: Final = (KeyError, ValueError, OSError, pygit2.GitError)
"""What libgit2 raises for an object that is not there, or is damaged."""


@dataclass(frozen=True, slots=True)
class Note:
    """What a commit says beside its files."""

    message: str
    """Without a newline at its end, as grite has it."""
    at_ms: int
    """Unix ms; a commit is never dated before its first parent."""
    parents: Sequence[str] = ()
    mail: str = WAL_MAIL


def write(repo: pygit2.Repository, files: Mapping[str, bytes], note: Note) -> str:
    """Write `files` (by path) as a commit and return it. The same again: the same id.

    Raises:
        Corrupt: the first parent cannot be read.
        Unavailable: it cannot be written: a full disk, a folder that is gone.
    """
    date = note.at_ms // 1000
    if note.parents:
        # Dates that go back make each push and fetch cost the whole history.
        date = max(date, commit_in(repo, note.parents[0]).commit_time)
    who = pygit2.Signature("grite", note.mail, date, 0)
    parents: list[str | pygit2.Oid] = list(note.parents)
    with writing(repo.path):
        tree = _tree(repo, files)
        made = repo.create_commit(None, who, who, note.message, tree, parents)
    return str(made)


@contextmanager
def writing(where: object) -> Iterator[None]:
    """Turn what goes wrong while writing into `Unavailable`."""
    try:
        yield
    except (pygit2.GitError, OSError) as error:
        raise Unavailable(f"{where} cannot be written: {error}") from error


def commit_in(repo: pygit2.Repository, commit: str) -> pygit2.Commit:
    """Return a commit.

    Raises:
        Missing: it is not there, or not readable.
        Corrupt: it is no commit.
        Unavailable: the repository is gone.
    """
    try:
        found: object = repo[commit]
    except UNREADABLE as error:
        raise absent(repo, commit, error) from error
    if not isinstance(found, pygit2.Commit):
        raise Corrupt(f"{commit} is no commit")
    return found


def absent(
    repo: pygit2.Repository, commit: str, error: Exception
) -> Missing | Unavailable:
    """Return what it means that a commit cannot be read."""
    if not Path(repo.path).is_dir():
        return Unavailable(f"the repository {repo.path} is gone")
    return Missing(f"{commit} is not in {repo.path}: {error}")


def file_in(repo: pygit2.Repository, commit: str, path: str) -> bytes:
    """Return what a file of a commit holds.

    Raises:
        Corrupt: there is no such commit or file, or it cannot be read.
    """
    try:
        found: object = commit_in(repo, commit).tree[path]
    except UNREADABLE as error:
        raise Corrupt(f"{commit} holds no {path}: {error}") from error
    if not isinstance(found, pygit2.Blob):
        raise Corrupt(f"{path} in {commit} is no file")
    return found.data


def _tree(repo: pygit2.Repository, files: Mapping[str, bytes]) -> pygit2.Oid:
    builder = repo.TreeBuilder()
    folders: dict[str, dict[str, bytes]] = {}
    for path, data in files.items():
        name, slash, rest = path.partition("/")
        if slash:
            folders.setdefault(name, {})[rest] = data
        else:
            blob = repo.create_blob(data)
            builder.insert(name, blob, pygit2.enums.FileMode.BLOB)
    for name, inside in folders.items():
        builder.insert(name, _tree(repo, inside), pygit2.enums.FileMode.TREE)
    return builder.write()
