"""A chunk: the file that holds a commit's events in the log.

A header of 18 bytes, then one CBOR array of events; nothing is compressed. grite's
reader verifies neither ids nor hashes, this one does both (the hash where the file's
name is known).

`read_commit` reads a single commit of the log with the git program alone: a runner
needs one hand-off, once, and two short processes cost it less than loading a library
does. It gets all of the entry or an error, as half a hand-off is none.
"""

import re
import reprlib
import struct
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Final

from msgspec import Struct

from grite import event, git
from grite.errors import Corrupt
from grite.event import HASH_BYTES, Event, kind_of, payload_of

MAGIC: Final = b"GRITECNK"
VERSION: Final = 1
CODEC: Final = b"cbor-v1"
SUFFIX: Final = ".bin"
HEADER: Final = MAGIC + VERSION.to_bytes(2, "little") + bytes([len(CODEC)]) + CODEC


class Chunk(Struct, frozen=True):
    events: tuple[Event, ...]
    """Those whose stored id is theirs, in the array's order."""
    faults: tuple[str, ...] = ()
    """One sentence for each that was left out."""


def encode(events: Sequence[Event]) -> bytes:
    """Return the chunk that holds `events` in this order.

    Raises `ValueError`: text that is not valid Unicode.
    """
    rows = [
        (
            *(each.id, each.issue, each.actor, each.ts, each.parent),
            *(each.kind.tag, payload_of(each.kind), each.sig),
        )
        for each in events
    ]
    return HEADER + event.write_cbor(rows)


def chunk_hash(data: bytes) -> bytes:
    """Return the 32 bytes that name a chunk."""
    return blake2b(data, digest_size=HASH_BYTES).digest()


def decode(data: bytes) -> Chunk:
    """Read a chunk and verify the id of each event; bytes after it are ignored.

    Raises `Corrupt`: it is no chunk that this version can read.
    """
    if data[:18] != HEADER:
        version = int.from_bytes(data[8:10], "little")
        if data[:8] != MAGIC:
            raise Corrupt("not a chunk: it does not start with GRITECNK")
        if version != VERSION:
            raise Corrupt(
                f"the chunk has version {version}; this reader knows only {VERSION}"
            )
        raise Corrupt(f"the chunk has a codec other than {CODEC.decode()}")
    plain = _plain_events(data)
    if plain is not None:
        return Chunk(plain)
    rows = event.read_cbor(data[len(HEADER) :])
    if type(rows) is not tuple:
        raise Corrupt("the chunk does not contain an array of events")
    events: list[Event] = []
    faults: list[str] = []
    for number, row in enumerate(rows):
        try:
            events.append(_event(row))
        except (ValueError, TypeError) as error:
            faults.append(f"event {number}: {error}")
    return Chunk(tuple(events), tuple(faults))


_ROW: Final = struct.Struct(">3s32sB16sB16sBQBH")
"""Up to its text: its id, issue, actor and time, each after its head; no parent; and
its kind with the head of its fields."""
_HEADS: Final = (b"\x88\x58\x20", 0x50, 0x50, 0x1B, 0xF6)
_ISSUE_AT: Final = 3 + HASH_BYTES
_HASH: Final = blake2b(b"\x87\x01", digest_size=HASH_BYTES)
"""Of how the array begins whose hash is an event's id; the rest stands in a chunk."""
_KINDS: Final[dict[int, Callable[..., event.Kind]]] = {
    0x0381: event.CommentAdded,
    0x0481: event.LabelAdded,
    0x0581: event.LabelRemoved,
    0x0681: event.StateChanged,
}
_TEXT, _ARRAY, _NULL = 0x60, 0x80, 0xF6
_PAYLOAD_MOST: Final = 10_000  # bytes, of one that is more than a text


def _plain_events(data: bytes) -> tuple[Event, ...] | None:
    """Return the events of a chunk of the usual form, all of them verified.

    The id of each is the hash of bytes that stand in the chunk: nearly nothing is
    encoded again. None: one has another form, is not canonical CBOR, or does not
    verify. The general way, twice as long, says which, and what is wrong.
    """
    events: list[Event] = []
    try:
        rows, at = _length(data, len(HEADER), _ARRAY)
        for _ in range(rows):
            first, stored, second, issue, third, actor, fourth, ts, parent, form = (
                _ROW.unpack_from(data, at)
            )
            if (first, second, third, fourth, parent) != _HEADS or not ts >> 32:
                return None  # a time in 1970 has a shorter head
            if form in _KINDS:
                size, begin = _length(data, at + _ROW.size, _TEXT)
                end = begin + size
                kind = _KINDS[form](data[begin:end].decode())
            else:
                kind, end = _kind(data, at + _ROW.size - 2)
            found = _HASH.copy()
            found.update(data[at + _ISSUE_AT : end])
            if data[end] != _NULL or found.digest() != stored:
                return None
            events.append(Event(issue, actor, ts, kind))
            at = end + 1
    except (IndexError, ValueError, struct.error, Corrupt):
        return None
    return tuple(events)


def _kind(data: bytes, at: int) -> tuple[event.Kind, int]:
    """Return the kind whose tag is at `at`, and where its payload ends.

    Raises `ValueError` or `Corrupt`: it is long, or not canonical CBOR.
    """
    payload = event.read_cbor(data[at + 1 : at + _PAYLOAD_MOST])
    kind = kind_of(data[at], payload)
    written = event.write_cbor(kind.tag) + event.write_cbor(payload_of(kind))
    if not data.startswith(written, at):
        raise ValueError("not as it is written")
    return kind, at + len(written)


def _length(data: bytes, at: int, major: int) -> tuple[int, int]:
    """Return the length that a shortest head of CBOR holds, and where the head ends.

    Raises `IndexError` or `ValueError`: it is none, or one for 64 KiB or more.
    """
    size = data[at] - major
    if 0 <= size < 24:  # noqa: PLR2004  the format's own, as those below
        return size, at + 1
    first = data[at + 1]
    if size == 24 and first >= 24:  # noqa: PLR2004
        return first, at + 2
    if size == 25 and first:  # noqa: PLR2004
        return first << 8 | data[at + 2], at + 3
    raise ValueError("a head of another form")


def verified(name: str, data: bytes) -> Chunk:
    """Read the chunk of a file `<hash>.bin`, whose hash must be its content's.

    Raises `Corrupt`: it is not, or it is no chunk that this version can read.
    """
    if name != file_name(data):
        raise Corrupt(f"by its content, chunk {name} should be named {file_name(data)}")
    return decode(data)


def file_name(data: bytes) -> str:
    return chunk_hash(data).hex() + SUFFIX


def _event(row: object) -> Event:
    """Build the event of one row.

    Raises:
        ValueError: it has another shape, or its stored id is not its own.
        TypeError: likewise.
    """
    if type(row) is not tuple or len(row) != 8:  # noqa: PLR2004  the format's own
        raise ValueError("it is not an array of eight items")
    stored, issue, actor, ts, parent, tag, payload, sig = row
    if type(tag) is not int or not (sig is None or type(sig) is bytes):
        raise ValueError("its kind is not a number or its signature is not bytes")
    event = Event(issue, actor, ts, kind_of(tag, payload), parent, sig)
    if event.id != stored:
        shown = stored.hex() if type(stored) is bytes else reprlib.repr(stored)
        raise ValueError(f"it is stored as {shown}, but its id is {event.id.hex()}")
    return event


def read_commit(
    repo: Path, commit: str, check: Callable[[bytes], None] = lambda _raw: None
) -> tuple[Event, ...]:
    """Return the events of one commit of the log, verified, in the chunk's order.

    Any repository that has the commit will do: its history is not needed. `check` gets
    the commit's own bytes, before any event is read; what it raises is raised.

    Raises:
        Corrupt: it is no entry of the log, or something in it does not verify.
        GitFailed: git cannot read it; most likely it is not there.
        ValueError: `commit` is no full commit id.
    """
    if not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", commit):
        raise ValueError(f"give the commit's full ID, not {commit!r}")
    argv = ["ls-tree", "-r", "-z", "--full-tree", commit, "events/"]
    listed = git.run(argv, cwd=repo).stdout.decode(errors="replace").split("\0")
    pairs = (line.partition("\t")[::2] for line in listed)
    names = [
        (meta.split(" ")[2], path.rpartition("/")[2])
        for meta, path in pairs
        if path.endswith(SUFFIX)
    ]
    wanted = "".join(f"{oid}\n" for oid in (commit, *(oid for oid, _ in names)))
    answer = git.run(["cat-file", "--batch"], cwd=repo, stdin=wanted.encode()).stdout
    raw, *chunks = _contents(answer, "commit", *("blob" for _ in names))
    check(raw)
    if not names:
        raise Corrupt(f"{commit} is not a log entry: it contains no chunk")
    events: list[Event] = []
    for (_, name), data in zip(names, chunks, strict=True):
        found = verified(name, data)
        if found.faults:
            raise Corrupt(f"{commit} does not verify: {'; '.join(found.faults)}")
        events += found.events
    return tuple(events)


def _contents(answer: bytes, *kinds: str) -> Iterator[bytes]:
    for wanted, (head, data) in zip(kinds, git.batched(answer), strict=True):
        oid, kind, *_ = head.split(" ")
        if kind != wanted:
            raise Corrupt(f"the {wanted} {oid} is {kind}")
        yield data
