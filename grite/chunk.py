"""A chunk: the file that holds a commit's events in the log.

A header of 18 bytes, then one CBOR array of events; nothing is compressed. grite's
reader verifies neither ids nor hashes, this one does both (the hash where the file's
name is known).
"""

import reprlib
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

from msgspec import Struct

from grite import cbor
from grite.errors import Corrupt
from grite.event import HASH_BYTES, Event
from grite.kind import kind_of, payload_of

MAGIC: Final = b"GRITECNK"
VERSION: Final = 1
CODEC: Final = b"cbor-v1"
SUFFIX: Final = ".bin"
HEADER: Final = MAGIC + VERSION.to_bytes(2, "little") + bytes([len(CODEC)]) + CODEC


class Chunk(Struct, frozen=True):
    """What a chunk holds."""

    events: tuple[Event, ...]
    """Those whose stored id is theirs, in the array's order."""
    faults: tuple[str, ...] = ()
    """One sentence for each that was left out."""


def encode(events: Sequence[Event]) -> bytes:
    """Return the chunk that holds `events` in this order.

    Raises:
        ValueError: text that is not valid Unicode.
    """
    return HEADER + cbor.write([_row(event) for event in events])


def chunk_hash(data: bytes) -> bytes:
    """Return the 32 bytes that name a chunk."""
    return blake2b(data, digest_size=HASH_BYTES).digest()


def decode(data: bytes) -> Chunk:
    """Read a chunk and verify the id of each event; bytes after it are ignored.

    Raises:
        Corrupt: it is no chunk that this version can read.
    """
    if data[:18] != HEADER:
        raise Corrupt(_header_fault(data))
    rows = cbor.read(data[len(HEADER) :])
    if type(rows) is not tuple:
        raise Corrupt("a chunk holds an array of events, this one does not")
    events: list[Event] = []
    faults: list[str] = []
    for number, row in enumerate(rows):
        try:
            events.append(_event(row))
        except (ValueError, TypeError) as error:
            faults.append(f"event {number}: {error}")
    return Chunk(tuple(events), tuple(faults))


def verified(name: str, data: bytes) -> Chunk:
    """Read the chunk of a file `<hash>.bin`, whose hash must be its content's.

    Raises:
        Corrupt: it is not, or it is no chunk that this version can read.
    """
    if name != file_name(data):
        raise Corrupt(f"the chunk {name} holds what belongs in {file_name(data)}")
    return decode(data)


def file_name(data: bytes) -> str:
    """Return the name of a chunk's file."""
    return chunk_hash(data).hex() + SUFFIX


def _row(event: Event) -> tuple[object, ...]:
    return (
        event.id,
        event.issue,
        event.actor,
        event.ts,
        event.parent,
        event.kind.tag,
        payload_of(event.kind),
        event.sig,
    )


def _event(row: object) -> Event:
    """Build the event of one row.

    Raises:
        ValueError: it has another shape, or its stored id is not its own.
        TypeError: likewise.
    """
    if type(row) is not tuple or len(row) != 8:  # noqa: PLR2004  the format's own
        raise ValueError("it is not an array of eight")
    stored, issue, actor, ts, parent, tag, payload, sig = row
    if type(tag) is not int or not (sig is None or type(sig) is bytes):
        raise ValueError("its kind is no number or its signature no bytes")
    event = Event(issue, actor, ts, kind_of(tag, payload), parent, sig)
    if event.id != stored:
        shown = stored.hex() if type(stored) is bytes else reprlib.repr(stored)
        raise ValueError(f"stored as {shown}, but its id is {event.id.hex()}")
    return event


def _header_fault(data: bytes) -> str:
    if data[:8] != MAGIC:
        return "not a chunk: it does not start with GRITECNK"
    version = int.from_bytes(data[8:10], "little")
    if version != VERSION:
        return f"a chunk of version {version}; this reader knows version {VERSION}"
    return f"a chunk with another codec than {CODEC.decode()}"
