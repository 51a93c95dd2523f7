"""A grite event, its kinds and its id, bit for bit as grite has them.

The id is the BLAKE2b-256 of a CBOR array that leaves out the id and the signature; a
kind's fields stand in the order of its payload on the wire:
https://github.com/neul-labs/grite/blob/main/docs/hash-vectors.md
An event is frozen and hashable; its id is computed once, when it is first asked for.
Labels are kept in grite's order from the start, so that an event equals what a reader
gets back. Of grite's 14 kinds those that brat writes are read; the others are kept as
they are.

Of CBOR grite writes arrays, integers, text, bytes and null. What is read may come from
an agent's machine: a tag can make a small input unfold without end, or run a parser
that has no business here, so every tag is refused, and so are map keys whose hashes can
be made to collide.
"""

import reprlib
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, ClassVar, Final, Literal, NoReturn

import cbor2
from msgspec import Struct
from msgspec.structs import force_setattr

from grite.errors import Corrupt


def write_cbor(value: object) -> bytes:
    """Return the CBOR of `value`, definite lengths and shortest heads.

    Raises `ValueError`: text that is not valid Unicode, or a value CBOR has no form
    for.
    """
    try:
        return cbor2.dumps(value)
    except (cbor2.CBOREncodeError, UnicodeEncodeError, OverflowError) as error:
        raise ValueError(f"it cannot be encoded as CBOR: {error}") from error


def read_cbor(data: bytes) -> object:
    """Return the first value in `data`, arrays as tuples; what follows is ignored.

    Raises `Corrupt`: it is no CBOR, or holds a tag.
    """
    try:
        return cbor2.loads(
            data,
            immutable=True,
            semantic_decoders=_NO_TAGS,
            tag_hook=_refuse,
            strict_hashable_types=True,
        )
    except (cbor2.CBORError, ValueError, RecursionError, MemoryError) as error:
        raise Corrupt(f"bad CBOR: {error}") from error


def _refuse(*_: object) -> NoReturn:
    raise ValueError("tags are not allowed in the log")


class _NoTags(Mapping[int, Callable[..., Any]]):
    """Answers for each tag there is that it is refused."""

    def __getitem__(self, tag: int) -> Callable[..., Any]:
        return _refuse

    def __iter__(self) -> Iterator[int]:
        return iter(())

    def __len__(self) -> int:
        return 1


_NO_TAGS = _NoTags()


ID_BYTES: Final = 16
"""Of an issue and of an actor."""
HASH_BYTES: Final = 32
"""Of an event's id, a chunk's hash and a file's SHA-256."""


def check_length(what: str, value: bytes, length: int) -> None:
    """Raise ValueError unless `value` is `length` bytes long."""
    if type(value) is not bytes or len(value) != length:
        raise ValueError(f"{what} must have {length} bytes, not {reprlib.repr(value)}")


class IssueCreated(Struct, frozen=True):
    """The issue's first event; labels are sorted, and not made unique."""

    tag: ClassVar[int] = 1
    title: str
    body: str
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if any(type(label) is not str for label in self.labels):
            raise ValueError("a label must be text")
        force_setattr(self, "labels", tuple(sorted(self.labels)))


class CommentAdded(Struct, frozen=True):
    """A comment; our own events travel in its body."""

    tag: ClassVar[int] = 3
    body: str


class LabelAdded(Struct, frozen=True):
    tag: ClassVar[int] = 4
    label: str


class LabelRemoved(Struct, frozen=True):
    tag: ClassVar[int] = 5
    label: str


class StateChanged(Struct, frozen=True):
    tag: ClassVar[int] = 6
    state: Literal["open", "closed"]

    def __post_init__(self) -> None:
        if self.state not in {"open", "closed"}:
            raise ValueError(
                f"a state must be open or closed, not {reprlib.repr(self.state)}"
            )


class UnknownKind(Struct, frozen=True):
    """A kind, or a form of one, that brat has no use for: kept, and no fault."""

    tag: int
    payload: bytes
    """Its CBOR."""


KnownKind = IssueCreated | CommentAdded | LabelAdded | LabelRemoved | StateChanged
Kind = KnownKind | UnknownKind

_FORMS: Final[dict[int, tuple[Callable[..., KnownKind], tuple[type, ...]]]] = {
    1: (IssueCreated, (str, str, tuple)),
    3: (CommentAdded, (str,)),
    4: (LabelAdded, (str,)),
    5: (LabelRemoved, (str,)),
    6: (StateChanged, (str,)),
}
"""For each tag its kind, and the types of its payload."""


def payload_of(kind: Kind) -> object:
    """Return the payload of `kind`, as CBOR takes it."""
    if isinstance(kind, UnknownKind):
        return read_cbor(kind.payload)
    return tuple([getattr(kind, name) for name in kind.__struct_fields__])


def kind_of(tag: int, payload: object) -> Kind:
    """Return the kind that `payload` holds; a form not known here is UnknownKind."""
    form = _FORMS.get(tag)
    if form is not None and type(payload) is tuple:
        kind, types = form
        if tuple(map(type, payload)) == types:
            try:
                return kind(*payload)
            except ValueError:
                pass  # perhaps a state of a later version: kept below
    return UnknownKind(tag, write_cbor(payload))


SCHEMA_VERSION: Final = 1
_TS_LIMIT: Final = 1 << 64


class Event(Struct, frozen=True, dict=True):
    """One event on one issue.

    Raises `ValueError`: an id of the wrong length, or a time before 1970.
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
            raise ValueError(f"a time must be in Unix milliseconds, not {self.ts!r}")

    @property
    def id(self) -> bytes:
        """The 32 bytes that name it.

        Raises `ValueError`: its text is not valid Unicode.
        """
        kept: dict[str, bytes] = self.__dict__
        known = kept.get("id")
        if known is None:
            own = (SCHEMA_VERSION, self.issue, self.actor, self.ts, self.parent)
            preimage = write_cbor((*own, self.kind.tag, payload_of(self.kind)))
            known = blake2b(preimage, digest_size=HASH_BYTES).digest()
            kept["id"] = known
        return known
