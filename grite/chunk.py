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


_ROW: Final = re.compile(
    rb"\x88\x58\x20(.{32})"  # its id
    rb"\x50(.{16})\x50(.{16})"  # issue and actor
    rb"\x1b(?!\0{4})(.{8})\xf6"  # its time, from 1970-02-19 on; no parent
    rb"([\x03-\x06])\x81",
    re.DOTALL,
)
_ISSUE_AT: Final = 3 + HASH_BYTES
_KINDS: Final[dict[bytes, Callable[..., event.KnownKind]]] = {
    b"\x03": event.CommentAdded,
    b"\x04": event.LabelAdded,
    b"\x05": event.LabelRemoved,
    b"\x06": event.StateChanged,
}
_TEXT, _ARRAY, _NULL = 0x60, 0x80, 0xF6


def _plain_events(data: bytes) -> tuple[Event, ...] | None:
    """Return the events of a chunk of the usual form, all of them verified.

    Each is one text, and its id is the hash of bytes that stand in the chunk: nothing
    is encoded again. None: one has another form, is not canonical CBOR, or does not
    verify. The general way, twice as long, says which, and what is wrong.
    """
    events: list[Event] = []
    try:
        rows, at = _length(data, len(HEADER), _ARRAY)
        for _ in range(rows):
            row = _ROW.match(data, at)
            if row is None:
                return None
            stored, issue, actor, ts, tag = row.groups()
            size, begin = _length(data, row.end(), _TEXT)
            end = begin + size
            preimage = b"\x87\x01" + data[at + _ISSUE_AT : end]
            found = blake2b(preimage, digest_size=HASH_BYTES).digest()
            if data[end] != _NULL or found != stored:
                return None
            kind = _KINDS[tag](data[begin:end].decode())
            events.append(Event(issue, actor, int.from_bytes(ts), kind))
            at = end + 1
    except (IndexError, ValueError):  # it ends too soon, or is not what it should be
        return None
    return tuple(events)


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
