"""A grite event and its id, bit for bit as grite has them.

The id is the BLAKE2b-256 of a CBOR array that leaves out the id and the signature:
https://github.com/neul-labs/grite/blob/main/docs/hash-vectors.md
An event is frozen and hashable; its id is computed once, when it is first asked for.
"""

from hashlib import blake2b
from typing import Final

from msgspec import Struct

from grite import cbor
from grite.kind import (
    HASH_BYTES,
    ID_BYTES,
    AssigneeAdded,
    AssigneeRemoved,
    AttachmentAdded,
    CommentAdded,
    ContextUpdated,
    DependencyAdded,
    DependencyRemoved,
    IssueCreated,
    IssueUpdated,
    Kind,
    LabelAdded,
    LabelRemoved,
    LinkAdded,
    ProjectContextUpdated,
    Relation,
    StateChanged,
    Symbol,
    UnknownKind,
    check_length,
    payload_of,
)

__all__ = [
    "HASH_BYTES",
    "ID_BYTES",
    "AssigneeAdded",
    "AssigneeRemoved",
    "AttachmentAdded",
    "CommentAdded",
    "ContextUpdated",
    "DependencyAdded",
    "DependencyRemoved",
    "Event",
    "IssueCreated",
    "IssueUpdated",
    "Kind",
    "LabelAdded",
    "LabelRemoved",
    "LinkAdded",
    "ProjectContextUpdated",
    "Relation",
    "StateChanged",
    "Symbol",
    "UnknownKind",
    "preimage",
]

SCHEMA_VERSION: Final = 1
_TS_LIMIT: Final = 1 << 64


class Event(Struct, frozen=True, dict=True):
    """One event on one issue.

    Raises:
        ValueError: an id of the wrong length, or a time before 1970.
    """

    issue: bytes
    """16 bytes."""
    actor: bytes
    """16 bytes."""
    ts: int
    """Unix milliseconds."""
    kind: Kind
    parent: bytes | None = None
    """An event's id; grite itself always leaves it out."""
    sig: bytes | None = None
    """Ed25519 over the id; not part of it."""

    def __post_init__(self) -> None:
        check_length("an issue id", self.issue, ID_BYTES)
        check_length("an actor id", self.actor, ID_BYTES)
        if self.parent is not None:
            check_length("a parent", self.parent, HASH_BYTES)
        if type(self.ts) is not int or not 0 <= self.ts < _TS_LIMIT:
            raise ValueError(f"a time is unix milliseconds, not {self.ts!r}")

    @property
    def id(self) -> bytes:
        """The 32 bytes that name it.

        Raises:
            ValueError: its text is not valid Unicode.
        """
        kept: dict[str, bytes] = self.__dict__
        known = kept.get("id")
        if known is None:
            known = blake2b(preimage(self), digest_size=HASH_BYTES).digest()
            kept["id"] = known
        return known


def preimage(event: Event) -> bytes:
    """Return what the id is the hash of."""
    return cbor.write(
        (
            SCHEMA_VERSION,
            event.issue,
            event.actor,
            event.ts,
            event.parent,
            event.kind.tag,
            payload_of(event.kind),
        )
    )
