"""One commit of the log: its files, and what is read back from them and verified.

What is wrong with it is said, not raised. A commit holds `meta.json` and
`events/YYYY/MM/DD/<hash>.bin`. Any other program may have written to the ref, so
nothing here is taken for granted.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec
import pygit2
from msgspec import Struct

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

    Raises `ValueError`: text that is not valid Unicode.
    """
    data = chunk.encode(events)
    day = _EPOCH + timedelta(milliseconds=min(events[0].ts, _LAST_DAY_MS))
    name = chunk.file_name(data)
    return {
        f"{EVENTS}/{day:%Y/%m/%d}/{name}": data,
        META: _meta_of(name, actor, parent),
    }


def _meta_of(name: str, actor: bytes, parent: str | None) -> bytes:
    # The same bytes as Rust's pretty printer makes: key order, two spaces, no end.
    return (
        f'{{\n  "schema_version": {SCHEMA_VERSION},\n  "actor_id": "{actor.hex()}",\n'
        f'  "chunk_hash": "{name.removesuffix(chunk.SUFFIX)}",\n'
        f'  "prev_wal": {msgspec.json.encode(parent).decode()}\n}}'
    ).encode()


HEAD: Final = re.compile(
    rb"tree (?P<tree>\w{40})\nparent (?P<parent>\w{40})\nauthor "
    rb"(?P<who>grite <[^<>\n]+> (?P<date>\d{1,10}) \+0000)\ncommitter (?P=who)\n"
)
"""How brat lets a commit of the log begin that is not the first."""
Known = tuple[re.Match[bytes], pygit2.OdbBackendPack]
"""What `HEAD` found in a commit, and the repository's packs: half the time to read."""


def _plain(repo: pygit2.Repository, commit_id: str, known: Known) -> Entry | None:
    """Return the entry of a commit that holds what `files` gives, all of it verified.

    A chunk comes out of the packs without a look at its SHA-1: its content has to have
    the hash that names it in a folder whose own SHA-1 is verified. `meta.json` is only
    looked for: its id has to be that of the very bytes that belong there. None:
    anything is not as it should be; the general way, twice as long, says what.
    """
    head, packs = known
    try:
        root: Any = repo[head["tree"].decode()]
        meta, item = root[META], root[EVENTS]
        for _ in range(4):  # the year, month and day, and the chunk
            (item,) = item
        is_packed = packs.exists(item.id)
        kind, data = packs.read(item.id) if is_packed else (item.type, item.data)
        found = chunk.verified(item.name, data)
        actor = found.events[-1].actor
        wanted = pygit2.hash(_meta_of(item.name, actor, head["parent"].decode()))
    except (*_UNREADABLE, AttributeError, IndexError, TypeError):
        return None
    is_it = meta.id == wanted and repo.odb.exists(wanted) and not found.faults
    if not is_it or {kind, item.type, meta.type} != {pygit2.enums.ObjectType.BLOB}:
        return None
    return Entry(commit_id, actor, int(head["date"]) * 1000, found.events)


def read(repo: pygit2.Repository, commit_id: str, known: Known | None = None) -> Entry:
    """Read one commit; never raises for what it holds or lacks."""
    if known and (plain := _plain(repo, commit_id, known)):
        return plain
    actor: bytes | None = None
    at_ms = 0
    events: list[Event] = []
    faults: list[str] = []
    names: list[str] = []
    try:
        commit: object = repo[commit_id]
        if not isinstance(commit, pygit2.Commit):
            raise Corrupt("the log refers to an object that is not a commit")
        at_ms = commit.commit_time * 1000
        tree = commit.tree
        for blob in _chunks(tree[EVENTS], _DEPTH) if EVENTS in tree else ():
            names.append(str(blob.name))
            try:
                found = chunk.verified(names[-1], blob.data)
            except _UNREADABLE as error:
                faults.append(f"{blob.name}: {error}")
            else:
                events += found.events
                faults += found.faults
        parent = next(map(str, commit.parent_ids), None)
        try:
            meta, actor = _meta(tree)
        except _UNREADABLE as error:
            faults.append(f"{META}: {error}")
        else:
            if names != [f"{meta.get('chunk_hash')}{chunk.SUFFIX}"]:
                has = ", ".join(names) or "none"
                faults.append(f"{META} and the commit's chunks differ: it has {has}")
            # We go by the commit's own parent; grite goes by this.
            if meta.get("prev_wal") != parent:
                faults.append(f"{META} names a previous entry other than {parent}")
    except _UNREADABLE as error:
        faults.append(f"the commit cannot be read: {error}")
    return Entry(commit_id, actor, at_ms, tuple(events), tuple(faults))


def _meta(tree: pygit2.Tree) -> tuple[dict[str, object], bytes]:
    """Return what `meta.json` says, and the actor in it."""
    if META not in tree:
        raise Corrupt("is missing; another program made this commit")
    blob = tree[META]
    if not isinstance(blob, pygit2.Blob):
        raise Corrupt("is not a file")
    try:
        meta = msgspec.json.decode(blob.data)
    except msgspec.DecodeError as error:
        raise Corrupt(f"is not JSON: {error}") from error
    if not isinstance(meta, dict) or meta.get("schema_version") != SCHEMA_VERSION:
        raise Corrupt(f"does not have version {SCHEMA_VERSION}")
    actor = bytes.fromhex(str(meta.get("actor_id")))
    if len(actor) != ID_BYTES:
        raise Corrupt("does not name an actor")
    return meta, actor


def _chunks(tree: pygit2.Object, depth: int) -> Iterator[pygit2.Blob]:
    if not isinstance(tree, pygit2.Tree):
        return
    for item in tree:
        if isinstance(item, pygit2.Tree):
            if depth > 0:
                yield from _chunks(item, depth - 1)
        elif isinstance(item, pygit2.Blob) and str(item.name).endswith(chunk.SUFFIX):
            yield item
