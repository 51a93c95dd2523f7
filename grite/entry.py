"""One commit of the log: its files, and what is read back from them and verified.

What is wrong with it is said, not raised. A commit holds `meta.json` and
`events/YYYY/MM/DD/<hash>.bin`. Any other program may have written to the ref, so
nothing here is taken for granted.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec
import pygit2
from msgspec import Struct, field

from grite import chunk
from grite.errors import Corrupt
from grite.event import ID_BYTES, Event

META: Final = "meta.json"
EVENTS: Final = "events"
SCHEMA_VERSION: Final = 1
_DEPTH: Final = 8
"""How deep `events` is searched; grite writes three folders."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_DAY_MS: Final = 253_402_300_799_999  # of the year 9999, the last with four digits
_UNREADABLE: Final = (Corrupt, KeyError, ValueError, OSError, pygit2.GitError)


class Entry(Struct, frozen=True):
    """What one commit of the log holds."""

    commit: str
    actor: bytes | None
    """Who wrote it; None where that cannot be read."""
    at_ms: int
    """The commit's date in unix milliseconds; it has whole seconds."""
    events: tuple[Event, ...]
    """Those that verify, in the chunk's order."""
    faults: tuple[str, ...] = ()
    """One sentence for each thing that could not be read or does not verify."""
    is_foreign: bool = False
    """Whether a later commit lists it: it counts for nothing, and is not read."""


def foreign(commit_id: str) -> Entry:
    """Return what stands for a commit that counts for nothing."""
    return Entry(commit_id, None, 0, (), is_foreign=True)


def files(
    events: Sequence[Event], parent: str | None, actor: bytes
) -> dict[str, bytes]:
    """Return the files of the commit that holds `events` after `parent`, by path.

    Raises:
        ValueError: text that is not valid Unicode.
    """
    data = chunk.encode(events)
    day = _EPOCH + timedelta(milliseconds=min(events[0].ts, _LAST_DAY_MS))
    # The same bytes as Rust's pretty printer makes: key order, two spaces, no end.
    meta = {
        "schema_version": SCHEMA_VERSION,
        "actor_id": actor.hex(),
        "chunk_hash": chunk.chunk_hash(data).hex(),
        "prev_wal": parent,
    }
    return {
        f"{EVENTS}/{day:%Y/%m/%d}/{chunk.file_name(data)}": data,
        META: msgspec.json.format(msgspec.json.encode(meta), indent=2),
    }


def read(repo: pygit2.Repository, commit_id: str) -> Entry:
    """Read one commit; never raises for what it holds or lacks."""
    reading = _Reading()
    try:
        commit: object = repo[commit_id]
        if not isinstance(commit, pygit2.Commit):
            raise Corrupt("the log names an object that is no commit")
        reading.take(commit)
    except _UNREADABLE as error:
        reading.faults.append(f"the commit cannot be read: {error}")
    return Entry(
        commit_id,
        reading.actor,
        reading.at_ms,
        tuple(reading.events),
        tuple(reading.faults),
    )


class _Reading(Struct):
    """What was found in a commit so far."""

    actor: bytes | None = None
    at_ms: int = 0
    events: list[Event] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def take(self, commit: pygit2.Commit) -> None:
        self.at_ms = commit.commit_time * 1000
        tree = commit.tree
        names = []
        if EVENTS in tree:
            for blob in _chunks(tree[EVENTS], _DEPTH):
                names.append(str(blob.name))
                self._take_chunk(blob)
        parents = [str(parent) for parent in commit.parent_ids]
        try:
            self._take_meta(tree, names, parents[0] if parents else None)
        except _UNREADABLE as error:
            self.faults.append(f"{META}: {error}")

    def _take_chunk(self, blob: pygit2.Blob) -> None:
        try:
            found = chunk.verified(str(blob.name), blob.data)
        except _UNREADABLE as error:
            self.faults.append(f"{blob.name}: {error}")
        else:
            self.events += found.events
            self.faults += found.faults

    def _take_meta(
        self, tree: pygit2.Tree, names: list[str], parent: str | None
    ) -> None:
        if META not in tree:
            raise Corrupt("is not there; another program made this commit")
        blob = tree[META]
        if not isinstance(blob, pygit2.Blob):
            raise Corrupt("is no file")
        meta = json.loads(blob.data)
        if not isinstance(meta, dict) or meta.get("schema_version") != SCHEMA_VERSION:
            raise Corrupt(f"is not of version {SCHEMA_VERSION}")
        actor = bytes.fromhex(str(meta.get("actor_id")))
        if len(actor) != ID_BYTES:
            raise Corrupt("names no actor")
        self.actor = actor
        if names != [f"{meta.get('chunk_hash')}{chunk.SUFFIX}"]:
            self.faults.append(f"{META} names one chunk, the commit holds {names}")
        # We go by the commit's own parent; grite goes by this.
        if meta.get("prev_wal") != parent:
            self.faults.append(f"{META} names another entry before it than {parent}")


def _chunks(tree: pygit2.Object, depth: int) -> Iterator[pygit2.Blob]:
    if not isinstance(tree, pygit2.Tree):
        return
    for item in tree:
        if isinstance(item, pygit2.Tree):
            if depth > 0:
                yield from _chunks(item, depth - 1)
        elif isinstance(item, pygit2.Blob) and str(item.name).endswith(chunk.SUFFIX):
            yield item
