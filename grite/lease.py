"""A lease in grite's form: a ref that points to a commit that holds `lock.json`.

This file reads and writes the content. `grite.remote` moves the ref, and only one
writer can win that; `grite.resource` says which leases exclude each other.
"""

import json
import re
from hashlib import sha256
from typing import Final

import pygit2
from msgspec import Struct

from grite import objects
from grite.errors import Corrupt
from grite.event import ID_BYTES
from grite.objects import Note
from grite.signatures import LOCK, Authority, Writer

LOCKS: Final = "refs/grite/locks/"
FILE: Final = "lock.json"
_HEAD: Final = "Log-Head: "
_NAMED: Final = re.compile(rf"\n{_HEAD}([0-9a-f]{{40,64}})\Z")
_MAIL: Final = "grit@localhost"  # grit: so it is written in grite's source.


class Lock(Struct, frozen=True):
    owner: bytes
    """An actor's 16 bytes."""
    nonce: str
    """Tells two leases of one owner apart."""
    expires_ms: int
    """Unix milliseconds."""
    resource: str
    log_head: str | None = None
    """The log's newest commit when it was written, where it says so."""


def ref_of(resource: str) -> str:
    return LOCKS + sha256(resource.encode()).hexdigest()[:16]


def write(
    repo: pygit2.Repository,
    lock: Lock,
    *,
    parent: str | None,
    at_ms: int,
    writer: Writer | None = None,
) -> str:
    """Write `lock` as a commit and return it; no ref moves. Safe to call again.

    `parent` is the commit it renews. The commit's date is never before its parent's.
    Without a writer it binds nobody who knows the allowed signers.

    Raises:
        Corrupt: there is no such parent.
        Unavailable: it cannot be written.
    """
    # The same bytes as Rust's pretty printer makes.
    text = json.dumps(
        {
            "owner": lock.owner.hex(),
            "nonce": lock.nonce,
            "expires_unix_ms": lock.expires_ms,
            "resource": lock.resource,
        },
        indent=2,
        ensure_ascii=False,
    )
    parents = () if parent is None else (parent,)
    date = objects.date_after(repo, parent, at_ms)
    note = Note(f"{LOCK}{lock.resource}", date, parents, _MAIL)
    named = () if lock.log_head is None else (f"{_HEAD}{lock.log_head}",)
    return objects.write(repo, {FILE: text.encode()}, note.signed(writer, named))


def read(
    repo: pygit2.Repository, commit: str, authority: Authority | None = None
) -> Lock:
    """Return the lease that a lock ref's `commit` holds.

    Without an authority it needs no signature. Raises `Corrupt`: it holds none that
    this version can read, or is not there, or its signature does not count.
    """
    message = objects.trusted(repo, commit, LOCK, authority).message
    text = objects.file_in(repo, commit, FILE)
    head = _NAMED.search(message)
    try:
        match json.loads(text):
            case {
                "owner": str(owner),
                "nonce": str(nonce),
                "expires_unix_ms": int(expires_ms),
                "resource": str(resource),
            } if len(bytes.fromhex(owner)) == ID_BYTES:
                named = head[1] if head else None
                return Lock(bytes.fromhex(owner), nonce, expires_ms, resource, named)
            case _:
                raise Corrupt(f"{FILE} in {commit} is malformed")
    except (ValueError, RecursionError) as error:
        raise Corrupt(f"{commit} contains no lease: {error}") from error
