"""A snapshot in grite's own form: every event so far, in chunks of a thousand.

`grite rebuild --from-snapshot` reads it. It holds events, not what they add up to: that
is a checkpoint.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

import pygit2
from msgspec import Struct

from grite import chunk, objects
from grite.chunk import Chunk
from grite.errors import Corrupt
from grite.event import Event
from grite.objects import Note

SNAPSHOTS: Final = "refs/grite/snapshots/"
FILE: Final = "snapshot.json"
SCHEMA_VERSION: Final = 1
CHUNK_EVENTS: Final = 1000


class Snapshot(Struct, frozen=True):
    """What a snapshot holds."""

    created_ms: int
    """Unix ms; its ref has this for a name."""
    wal_head: str
    """The log's commit that it was made at."""
    events: tuple[Event, ...]
    """Those that verify, in the order they were written in."""
    faults: tuple[str, ...] = ()
    """One sentence for each thing that does not."""


def ref_of(at_ms: int) -> str:
    """Return the ref of the snapshot made at this time."""
    return f"{SNAPSHOTS}{at_ms}"


def write(
    repo: pygit2.Repository, events: Sequence[Event], *, wal_head: str, at_ms: int
) -> str:
    """Write a snapshot as a commit and return it; no ref moves. Safe to call again.

    Args:
        repo: where.
        events: all of the log, in its order.
        wal_head: the log's commit that they go up to.
        at_ms: now, unix ms.

    Raises:
        ValueError: text that is not valid Unicode.
        Unavailable: it cannot be written.
    """
    files: dict[str, bytes] = {}
    rows: list[dict[str, object]] = []
    for start in range(0, len(events), CHUNK_EVENTS):
        some = events[start : start + CHUNK_EVENTS]
        data = chunk.encode(some)
        path = f"events/{start // CHUNK_EVENTS:04d}.bin"
        files[path] = data
        hashed = chunk.chunk_hash(data).hex()
        rows.append({"path": path, "chunk_hash": hashed, "event_count": len(some)})
    # The same bytes as Rust's pretty printer makes: key order, two spaces, no end.
    meta = {
        "schema_version": SCHEMA_VERSION,
        "created_ts": at_ms,
        "wal_head": wal_head,
        "event_count": len(events),
        "chunks": rows,
    }
    files[FILE] = json.dumps(meta, indent=2).encode()
    note = Note(f"Snapshot: {len(events)} events at {at_ms}", at_ms // 1000)
    return objects.write(repo, files, note)


def read(repo: pygit2.Repository, commit: str) -> Snapshot:
    """Return what a snapshot holds; each event's id and each chunk's hash is verified.

    Raises:
        Corrupt: it is not there, or is no snapshot that this version can read.
    """
    text = objects.file_in(repo, commit, FILE)
    try:
        match json.loads(text):
            case {
                "schema_version": 1,
                "created_ts": int(created_ms),
                "wal_head": str(wal_head),
                "event_count": int(count),
                "chunks": [*rows],
            }:
                events, faults = _events(repo, commit, rows)
            case _:
                raise Corrupt(f"{FILE} in {commit} has another form")
    except ValueError as error:
        raise Corrupt(f"{commit} holds no snapshot: {error}") from error
    if len(events) != count and not faults:
        faults = [f"{FILE} promises {count} events, there are {len(events)}"]
    return Snapshot(created_ms, wal_head, tuple(events), tuple(faults))


def _events(
    repo: pygit2.Repository, commit: str, rows: list[Any]
) -> tuple[list[Event], list[str]]:
    events: list[Event] = []
    faults: list[str] = []
    for row in rows:
        try:
            found = _chunk(repo, commit, row)
        except Corrupt as error:
            faults.append(str(error))
        else:
            events += found.events
            faults += found.faults
    return events, faults


def _chunk(repo: pygit2.Repository, commit: str, row: object) -> Chunk:
    match row:
        case {"path": str(path), "chunk_hash": str(name)}:
            data = objects.file_in(repo, commit, path)
            return chunk.verified(name + chunk.SUFFIX, data)
        case _:
            raise Corrupt(f"{FILE} names a chunk in another form")
