"""Commits that hold files, written and read; libgit2's errors are turned into ours.

Nothing here moves a ref, so what a process that dies leaves behind is only garbage.
"""

import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha1
from pathlib import Path
from typing import Final

import pygit2
from msgspec import Struct, structs

from grite.errors import Corrupt, Missing, Unavailable
from grite.signatures import Authority, Sign, Writer, signed_message, with_signature

WAL_MAIL: Final = "grit@local"  # grit: so it is written in grite's source.
UNREADABLE: Final = (KeyError, ValueError, OSError, pygit2.GitError)
"""What libgit2 raises for an object that is not there, or is damaged."""


class Note(Struct, frozen=True):
    """What a commit says beside its files."""

    message: str
    """Without a newline at its end, as grite has it."""
    date: int
    """Unix seconds; see `date_after`."""
    parents: Sequence[str] = ()
    mail: str = WAL_MAIL
    sign: Sign | None = None
    """Signs the commit; None: it stays unsigned."""

    def signed(self, by: Writer | None, trailers: Sequence[str] = ()) -> "Note":
        """Return the note of a commit that its writer signs; None: nobody does."""
        if by is None:
            return self
        text = signed_message(self.message, by.repository, trailers)
        return structs.replace(self, message=text, sign=by.sign)


def write(repo: pygit2.Repository, files: Mapping[str, bytes], note: Note) -> str:
    """Write `files` (by path) as a commit and return it. The same again: the same id.

    Raises `Unavailable`: it cannot be written: a full disk, a folder that is gone.
    """
    with writing(repo.path):
        folder = f"{repo.path}objects/"
        tree = _tree(folder, files).hex()
        who = f"grite <{note.mail}> {note.date} +0000"
        lines = [f"tree {tree}", *(f"parent {parent}" for parent in note.parents)]
        lines += [f"author {who}", f"committer {who}", "", note.message]
        data = "\n".join(lines).encode()
        if note.sign is not None:
            data = with_signature(data, note.sign(data))
        return _loose(folder, b"commit", data).hex()


_BLOCK: Final = 4000  # bytes: a shorter file takes up a whole block of the disk


def _loose(folder: str, kind: bytes, data: bytes) -> bytes:
    """Write a loose object and return its id.

    libgit2 compresses even what fits into a block, and takes twice as long. Its way to
    write into a whole repository lists the folder of packs for each new object, too.
    """
    whole = b"%b %d\0%b" % (kind, len(data), data)
    oid = sha1(whole, usedforsecurity=False).digest()
    path = f"{folder}{oid.hex()[:2]}/{oid.hex()[2:]}"
    packed = zlib.compress(whole, 1 if len(whole) > _BLOCK else 0)
    beside = f"{folder}tmp_obj_{os.urandom(8).hex()}"  # git removes old ones
    file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o444)
    try:
        if os.write(file, packed) < len(packed):
            raise OSError(f"there is no space for all of {path}")
    finally:
        os.close(file)
    try:
        os.rename(beside, path)  # noqa: PTH104  a Path takes as long as the renaming
    except FileNotFoundError:  # the first in its folder
        Path(path).parent.mkdir(exist_ok=True)
        Path(beside).rename(path)
    return oid


def date_after(repo: pygit2.Repository, parent: str | None, at_ms: int) -> int:
    """Return the date of a commit made at `at_ms` (unix ms), in unix seconds.

    Never before its parent's: dates that go back make each push and fetch cost the
    whole history. Raises `Corrupt`: `parent` is no commit here.
    """
    date = at_ms // 1000
    return date if parent is None else max(date, commit_in(repo, parent).commit_time)


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
        raise Corrupt(f"{commit} is not a commit")
    return found


def commit_bytes(repo: pygit2.Repository, commit: str) -> bytes:
    """Return all of a commit's bytes, even where a shallow clone hides its parents.

    Raises as `commit_in`.
    """
    try:
        kind, data = repo.read(commit)
    except UNREADABLE as error:
        raise absent(repo, commit, error) from error
    if kind != pygit2.enums.ObjectType.COMMIT:
        raise Corrupt(f"{commit} is not a commit")
    return data


def trusted(
    repo: pygit2.Repository, commit: str, kind: str, authority: Authority | None
) -> pygit2.Commit:
    """Return a signed commit of this kind; without an authority an unsigned one, too.

    Raises `Corrupt`: it is no commit, or not there, or its signature does not count.
    """
    if authority is not None:
        fault = authority.fault(commit_bytes(repo, commit), kind)
        if fault:
            raise Corrupt(f"{commit} is not trusted: {fault}")
    return commit_in(repo, commit)


def absent(
    repo: pygit2.Repository, commit: str, error: Exception
) -> Missing | Unavailable:
    if not Path(repo.path).is_dir():
        return Unavailable(f"the repository {repo.path} is gone")
    return Missing(f"{commit} is not in {repo.path}: {error}")


def file_in(repo: pygit2.Repository, commit: str, path: str) -> bytes:
    """Return what a file of a commit holds.

    Raises `Corrupt`: there is no such commit or file, or it cannot be read.
    """
    try:
        found: object = commit_in(repo, commit).tree[path]
    except UNREADABLE as error:
        raise Corrupt(f"{commit} contains no {path}: {error}") from error
    if not isinstance(found, pygit2.Blob):
        raise Corrupt(f"{path} in {commit} is not a file")
    return found.data


def _tree(folder: str, files: Mapping[str, bytes]) -> bytes:
    """Write a folder as the bytes it has; libgit2's own way looks each object up again.

    https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
    """
    rows: dict[str, tuple[bytes, bytes]] = {}
    folders: dict[str, dict[str, bytes]] = {}
    for path, data in files.items():
        name, slash, rest = path.partition("/")
        if slash:
            folders.setdefault(name, {})[rest] = data
        else:
            rows[name] = b"100644", _loose(folder, b"blob", data)
    for name, inside in folders.items():
        # git sorts a folder as if its name ended in a slash.
        rows[name + "/"] = b"40000", _tree(folder, inside)
    data = b"".join(
        b"%b %b\0%b" % (mode, name.rstrip("/").encode(), oid)
        for name, (mode, oid) in sorted(rows.items())
    )
    return _loose(folder, b"tree", data)
