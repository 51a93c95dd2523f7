"""A checkpoint: what the log adds up to at one of its commits, to go on from there.

A commit under refs/grite/checkpoints/ that holds `state.json` (bytes to this module, up
to the first line break), `packed` (what follows it, if anything does) and `wal_head`,
the commit of the log they belong to. That is also its parent: fetched
with a depth of two it brings the place where the log goes on. A checkpoint is a cache:
it can be deleted at any time, and whoever cannot use one reads the log.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

import pygit2

from grite import objects
from grite.errors import Corrupt
from grite.objects import Note
from grite.signatures import CHECKPOINT, Authority, Writer

CHECKPOINTS: Final = "refs/grite/checkpoints/"
KEPT: Final = 3
STATE: Final = "state.json"
PACKED: Final = "packed"
WAL_HEAD: Final = "wal_head"
DEPTH: Final = 2
"""With which a clone fetches one that is to begin there."""
_NAME: Final = re.compile(re.escape(CHECKPOINTS) + "[0-9]{1,19}")


def ref_of(at_ms: int) -> str:
    return f"{CHECKPOINTS}{at_ms}"


def newest_first(refs: Iterable[str]) -> list[str]:
    """Return the checkpoints among `refs`, by the time in their names."""
    return sorted(filter(_NAME.fullmatch, refs), key=_time_of, reverse=True)


def outdated(refs: Mapping[str, str], at_ms: int, kept: int = KEPT) -> dict[str, str]:
    """Return those of `refs` (ref to commit) that are checkpoints to be deleted.

    That is all but the newest that are not after `at_ms`: what comes from the future
    would hide every later one.
    """
    past = [ref for ref in newest_first(refs) if _time_of(ref) <= at_ms]
    return {ref: refs[ref] for ref in newest_first(refs) if ref not in past[:kept]}


def write(
    repo: pygit2.Repository,
    state: bytes,
    wal_head: str,
    at_ms: int,
    writer: Writer | None = None,
) -> str:
    """Write a checkpoint as a commit and return it; no ref moves. Safe to call again.

    Without a writer nobody who knows the allowed signers uses it.

    Raises:
        Corrupt: `wal_head` is no commit here.
        Unavailable: it cannot be written.
    """
    line, separator, rest = state.partition(b"\n")
    files = {STATE: line, WAL_HEAD: wal_head.encode()}
    files |= {PACKED: rest} if separator else {}
    date = objects.date_after(repo, wal_head, at_ms)
    note = Note(f"{CHECKPOINT}{wal_head}", date, (wal_head,))
    return objects.write(repo, files, note.signed(writer))


def read(
    repo: pygit2.Repository, commit: str, authority: Authority | None = None
) -> tuple[bytes, str]:
    """Return the state and the commit of the log that it belongs to.

    Without an authority it needs no signature. Raises `Corrupt`: it is no checkpoint,
    or not there, or its signature does not count.
    """
    tree = objects.trusted(repo, commit, CHECKPOINT, authority).tree
    state = objects.file_in(repo, commit, STATE)
    if PACKED in tree:
        state = b"\n".join((state, objects.file_in(repo, commit, PACKED)))
    wal_head = objects.file_in(repo, commit, WAL_HEAD)
    try:
        return state, wal_head.decode("ascii").strip()
    except ValueError as error:
        raise Corrupt(f"{WAL_HEAD} in {commit} is not a commit ID: {error}") from error


def _time_of(ref: str) -> int:
    return int(ref.removeprefix(CHECKPOINTS))
