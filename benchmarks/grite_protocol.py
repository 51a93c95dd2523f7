"""grite's own way to log, re-enacted with libgit2: a commit and eight objects an event.

What it leaves out is only what would make it slower (its database). When the log's ref
has moved meanwhile, grite 0.5.3 warns, exits with 0 and does not try again.
https://github.com/neul-labs/grite/blob/main/docs/git-wal.md
"""

import json
from datetime import UTC, datetime
from typing import Final

import msgspec
import pygit2

from grite import chunk
from grite.event import Event
from grite.signatures import Sign
from grite.wal import WAL_REF

_FILE: Final = pygit2.enums.FileMode.BLOB
_FOLDER: Final = pygit2.enums.FileMode.TREE
LOST: Final = (pygit2.GitError, OSError, KeyError)
"""How libgit2 says that somebody else was faster."""


def head_of(repo: pygit2.Repository) -> str | None:
    """Return where the log stands."""
    try:
        return str(repo.lookup_reference(WAL_REF).target)
    except KeyError:
        return None


def append(repo: pygit2.Repository, event: Event, sign: Sign | None = None) -> str:
    """Log one event after the head as it is read now; with `sign`, in a signed commit.

    Raises:
        LOST: somebody else logged meanwhile; the event is not in the log.
    """
    parent = head_of(repo)
    return write(repo, event, parent, WAL_REF, sign)


def write(
    repo: pygit2.Repository,
    event: Event,
    parent: str | None,
    ref: str | None,
    sign: Sign | None = None,
) -> str:
    """Write the commit of one event; with a ref, move it."""
    data = chunk.encode([event])
    hashed = chunk.chunk_hash(data).hex()
    day = datetime.fromtimestamp(event.ts / 1000, UTC)
    oid, mode = repo.create_blob(data), _FILE
    for name in (hashed + chunk.SUFFIX, f"{day:%d}", f"{day:%m}", f"{day:%Y}"):
        oid, mode = _tree(repo, (name, oid, mode)), _FOLDER
    meta = {
        "schema_version": 1,
        "actor_id": event.actor.hex(),
        "chunk_hash": hashed,
        "prev_wal": parent,
    }
    blob = repo.create_blob(msgspec.json.format(msgspec.json.encode(meta), indent=2))
    tree = _tree(repo, ("events", oid, _FOLDER), ("meta.json", blob, _FILE))
    who = pygit2.Signature("grite", "grit@local", event.ts // 1000, 0)
    message = f"WAL: 1 events from {event.actor.hex()[:8]}"
    parents = [parent] if parent else []
    if sign is None:
        return str(repo.create_commit(ref, who, who, message, tree, parents))
    text = str(repo.create_commit_string(who, who, message, tree, [*parents]))
    made = repo.create_commit_with_signature(text, sign(text.encode()))
    if ref is not None:
        repo.references.create(ref, made, force=True)
    return str(made)


def read(repo: pygit2.Repository, head: str) -> list[Event]:
    """Read the log as grite does, by `prev_wal`; unlike grite, ids are computed."""
    found: list[Event] = []
    at: str | None = head
    while at is not None:
        tree = repo[at].peel(pygit2.Commit).tree
        meta = json.loads(tree["meta.json"].peel(pygit2.Blob).data)
        folder = tree["events"].peel(pygit2.Tree)
        for _ in range(3):
            folder = next(iter(folder)).peel(pygit2.Tree)
        for blob in folder:
            found += chunk.decode(blob.peel(pygit2.Blob).data).events
        at = meta["prev_wal"]
    return found[::-1]


def _tree(repo: pygit2.Repository, *items: tuple[str, pygit2.Oid, int]) -> pygit2.Oid:
    builder = repo.TreeBuilder()
    for name, oid, mode in items:
        builder.insert(name, oid, mode)
    return builder.write()
