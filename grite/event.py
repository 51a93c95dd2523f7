"""A grite event, its kinds and its id, bit for bit as grite has them.

The id is the BLAKE2b-256 of a CBOR array that leaves out the id and the signature; a
kind's fields stand in the order of its payload on the wire:
https://github.com/neul-labs/grite/blob/main/docs/hash-vectors.md
An event is frozen and hashable; its id is computed once, when it is first asked for.
Labels and symbols are kept in grite's order from the start, so that an event equals
what a reader gets back.

Of CBOR grite writes arrays, integers, text, bytes and null. What is read may come from
an agent's machine: a tag can make a small input unfold without end, or run a parser
that has no business here, so every tag is refused, and so are map keys whose hashes can
be made to collide.
"""

import reprlib
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from operator import attrgetter
from types import NoneType
from typing import Any, ClassVar, Final, Literal, NamedTuple, NoReturn

import cbor2
from msgspec import Struct
from msgspec.structs import force_setattr

from grite.errors import Corrupt


def write_cbor(value: object) -> bytes:
    """Return the CBOR of `value`, definite lengths and shortest heads.

    Raises:
        ValueError: text that is not valid Unicode, or a value CBOR has no form for.
    """
    try:
        return cbor2.dumps(value)
    except (cbor2.CBOREncodeError, UnicodeEncodeError, OverflowError) as error:
        raise ValueError(f"no CBOR can be made of it: {error}") from error


def read_cbor(data: bytes) -> object:
    """Return the first value in `data`, arrays as tuples; what follows is ignored.

    Raises:
        Corrupt: it is no CBOR, or holds a tag.
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
    raise ValueError("tags have no place in the log")


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
        raise ValueError(f"{what} has {length} bytes, not {reprlib.repr(value)}")


class IssueCreated(Struct, frozen=True):
    """The issue's first event; labels are sorted, and not made unique."""

    tag: ClassVar[int] = 1
    title: str
    body: str
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if any(type(label) is not str for label in self.labels):
            raise ValueError("a label is text")
        force_setattr(self, "labels", tuple(sorted(self.labels)))


class IssueUpdated(Struct, frozen=True):
    """A new title, a new body; None leaves the old one."""

    tag: ClassVar[int] = 2
    title: str | None = None
    body: str | None = None


class CommentAdded(Struct, frozen=True):
    """A comment; our own events travel in its body."""

    tag: ClassVar[int] = 3
    body: str


class LabelAdded(Struct, frozen=True):
    """A label was put on."""

    tag: ClassVar[int] = 4
    label: str


class LabelRemoved(Struct, frozen=True):
    """A label was taken off."""

    tag: ClassVar[int] = 5
    label: str


class StateChanged(Struct, frozen=True):
    """The issue was closed or opened again."""

    tag: ClassVar[int] = 6
    state: Literal["open", "closed"]

    def __post_init__(self) -> None:
        if self.state not in {"open", "closed"}:
            raise ValueError(
                f"a state is open or closed, not {reprlib.repr(self.state)}"
            )


class LinkAdded(Struct, frozen=True):
    """A link to somewhere else."""

    tag: ClassVar[int] = 7
    url: str
    note: str | None = None


class AssigneeAdded(Struct, frozen=True):
    """Somebody has it now."""

    tag: ClassVar[int] = 8
    user: str


class AssigneeRemoved(Struct, frozen=True):
    """Somebody has it no more."""

    tag: ClassVar[int] = 9
    user: str


class AttachmentAdded(Struct, frozen=True):
    """A file that lies elsewhere, by its SHA-256."""

    tag: ClassVar[int] = 10
    name: str
    sha256: bytes
    mime: str

    def __post_init__(self) -> None:
        check_length("a SHA-256", self.sha256, HASH_BYTES)


Relation = Literal["blocks", "depends_on", "related_to"]


def _check_relation(target: bytes, relation: str) -> None:
    check_length("an issue id", target, ID_BYTES)
    if relation not in {"blocks", "depends_on", "related_to"}:
        raise ValueError(
            "a relation is blocks, depends_on or related_to, not "
            f"{reprlib.repr(relation)}"
        )


class DependencyAdded(Struct, frozen=True):
    """The issue stands in a relation to another one."""

    tag: ClassVar[int] = 11
    target: bytes
    relation: Relation

    def __post_init__(self) -> None:
        _check_relation(self.target, self.relation)


class DependencyRemoved(Struct, frozen=True):
    """It no longer does."""

    tag: ClassVar[int] = 12
    target: bytes
    relation: Relation

    def __post_init__(self) -> None:
        _check_relation(self.target, self.relation)


class Symbol(NamedTuple):
    """A named thing in a source file, with its first and last line."""

    name: str
    kind: str
    line_start: int
    line_end: int


def _symbol(row: "Symbol") -> Symbol:
    # From the wire it comes as a plain tuple.
    if tuple(map(type, row)) != (str, str, int, int) or min(row[2:]) < 0:
        raise ValueError(
            f"a symbol has a name, a kind and two lines, not {reprlib.repr(row)}"
        )
    return Symbol(*row)


class ContextUpdated(Struct, frozen=True):
    """What a source file holds; symbols are sorted by name and kind."""

    tag: ClassVar[int] = 13
    path: str
    language: str
    symbols: tuple[Symbol, ...]
    summary: str
    sha256: bytes

    def __post_init__(self) -> None:
        check_length("a SHA-256", self.sha256, HASH_BYTES)
        symbols = sorted(map(_symbol, self.symbols), key=attrgetter("name", "kind"))
        force_setattr(self, "symbols", tuple(symbols))


class ProjectContextUpdated(Struct, frozen=True):
    """A fact about the project, under a key."""

    tag: ClassVar[int] = 14
    key: str
    value: str


class UnknownKind(Struct, frozen=True):
    """A kind, or a form of one, that this version does not know: kept, and no fault."""

    tag: int
    payload: bytes
    """Its CBOR."""


KnownKind = (
    IssueCreated
    | IssueUpdated
    | CommentAdded
    | LabelAdded
    | LabelRemoved
    | StateChanged
    | LinkAdded
    | AssigneeAdded
    | AssigneeRemoved
    | AttachmentAdded
    | DependencyAdded
    | DependencyRemoved
    | ContextUpdated
    | ProjectContextUpdated
)
Kind = KnownKind | UnknownKind

_Types = set[tuple[type, ...]]
_MAYBE: Final[tuple[type, ...]] = (str, NoneType)
_TEXT: Final[_Types] = {(str,)}
_FORMS: Final[dict[int, tuple[Callable[..., KnownKind], _Types]]] = {
    1: (IssueCreated, {(str, str, tuple)}),
    2: (IssueUpdated, {(a, b) for a in _MAYBE for b in _MAYBE}),
    3: (CommentAdded, _TEXT),
    4: (LabelAdded, _TEXT),
    5: (LabelRemoved, _TEXT),
    6: (StateChanged, _TEXT),
    7: (LinkAdded, {(str, a) for a in _MAYBE}),
    8: (AssigneeAdded, _TEXT),
    9: (AssigneeRemoved, _TEXT),
    10: (AttachmentAdded, {(str, bytes, str)}),
    11: (DependencyAdded, {(bytes, str)}),
    12: (DependencyRemoved, {(bytes, str)}),
    13: (ContextUpdated, {(str, str, tuple, str, bytes)}),
    14: (ProjectContextUpdated, {(str, str)}),
}
"""For each tag its kind, and the types that its payload may have."""


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
        if tuple(map(type, payload)) in types:
            try:
                return kind(*payload)
            except ValueError:
                pass  # perhaps a state or relation of a later version: kept below
    return UnknownKind(tag, write_cbor(payload))


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
    return write_cbor(
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
