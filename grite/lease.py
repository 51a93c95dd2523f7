"""A lease in grite's form: a ref that points to a commit that holds `lock.json`.

This file reads and writes the content. `grite.remote` moves the ref, and only one
writer can win that; `grite.resource` says which leases exclude each other.
"""

import json
from hashlib import sha256
from typing import Final

import pygit2
from msgspec import Struct

from grite import objects
from grite.errors import Corrupt
from grite.event import ID_BYTES
from grite.objects import Note

LOCKS: Final = "refs/grite/locks/"
FILE: Final = "lock.json"
_MAIL: Final = "grit@localhost"  # grit: so it is written in grite's source.


class Lock(Struct, frozen=True):
    """Who has a resource, and until when."""

    owner: bytes
    """An actor's 16 bytes."""
    nonce: str
    """Tells two leases of one owner apart."""
    expires_ms: int
    """Unix milliseconds."""
    resource: str


def ref_of(resource: str) -> str:
    """Return the ref that stands for `resource`."""
    return LOCKS + sha256(resource.encode()).hexdigest()[:16]


def write(
    repo: pygit2.Repository, lock: Lock, *, parent: str | None, at_ms: int
) -> str:
    """Write `lock` as a commit and return it; no ref moves. Safe to call again.

    Args:
        repo: where.
        lock: what.
        parent: the commit it renews; None for a new lease.
        at_ms: the time in unix ms. The commit's date is never before its parent's.

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
    note = Note(f"Lock: {lock.resource}", date, parents, _MAIL)
    return objects.write(repo, {FILE: text.encode()}, note)


def read(repo: pygit2.Repository, commit: str) -> Lock:
    """Return the lease that `commit` holds.

    Raises:
        Corrupt: it holds none that this version can read, or is not there.
    """
    text = objects.file_in(repo, commit, FILE)
    try:
        match json.loads(text):
            case {
                "owner": str(owner),
                "nonce": str(nonce),
                "expires_unix_ms": int(expires_ms),
                "resource": str(resource),
            } if len(bytes.fromhex(owner)) == ID_BYTES:
                return Lock(bytes.fromhex(owner), nonce, expires_ms, resource)
            case _:
                raise Corrupt(f"{FILE} in {commit} has another form")
    except ValueError as error:
        raise Corrupt(f"{commit} holds no lease: {error}") from error
