"""Facts as grite events, and the fold of what is read back, also as bytes.

Each fact is a comment on the grite issue of its convoy or task. The label and state
changes that let `grite issue list --label status:running` tell the truth are written in
the same chunk; they are for grite's readers and change nothing here.

Everybody who folds the log reads on from what is known. Checkpoints and caches hold
that as bytes, and spare readers the log's length. Whoever meets bytes of another
version, or of a state in another form, reads the log instead: half understood, a state
would be worse than none.
"""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, reduce
from hashlib import blake2b
from importlib import import_module
from itertools import accumulate
from operator import or_
from pkgutil import iter_modules
from typing import Final, TypeVar

import msgspec
import pygit2
from msgspec.structs import replace

from convoy import events
from convoy.events import Claim, Event, Fact
from convoy.events.leases import BotStarted
from convoy.log import FORMER_EVENTS, VERSION, body_of, broken_up, event_json
from convoy.model import ids
from convoy.model.state import Convoy, Moment, State
from convoy.model.work import Convoys, ConvoySummary, Packed
from grite import checkpoint
from grite.errors import Corrupt
from grite.event import (
    CommentAdded,
    Event as GriteEvent,
    IssueCreated,
    Kind,
    LabelAdded,
    LabelRemoved,
    StateChanged,
)
from grite.signatures import Authority
from grite.wal import Log

_Kind = TypeVar("_Kind", bound=Fact)


def _kinds(of: type[_Kind]) -> Iterator[type[_Kind]]:
    for kind in of.__subclasses__():
        if kind.__module__ != Fact.__module__ and not kind.__name__.startswith("_"):
            yield kind
        yield from _kinds(kind)


def _by_tag(of: type[_Kind]) -> tuple[type[_Kind], ...]:
    return tuple(sorted(_kinds(of), key=lambda kind: str(kind.__struct_config__.tag)))


for _module in iter_modules(events.__path__, f"{events.__name__}."):
    import_module(_module.name)

EVENTS: Final[tuple[type[Event], ...]] = _by_tag(Event)  # type: ignore[type-abstract]
"""The events that a bot writes; they change the state."""
CLAIMS: Final[tuple[type[Claim], ...]] = _by_tag(Claim)
"""The claims of sessions about themselves, imported beside the bot's events."""
_decoder: msgspec.json.Decoder[Event | Claim] = msgspec.json.Decoder(
    reduce(or_, (*EVENTS, *CLAIMS))
)


class UnknownFact(msgspec.Struct, frozen=True):
    """A brat event this version does not know; a bot that meets one goes read-only."""

    type: str


_tag_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])


def fact_of(body: str) -> Event | Claim | UnknownFact | None:
    """Return the fact a comment body carries; None when it is just a comment.

    A line that has the marks and a known type but a form or a version that is not ours
    is an `UnknownFact` too: half an event must not be taken for none.
    """
    text = event_json(body)
    if text is None:
        return None
    try:
        fact = _decoder.decode(text)
    except (msgspec.ValidationError, RecursionError):
        kind = _type_in(text)
        return None if kind in FORMER_EVENTS else UnknownFact(kind)
    except msgspec.DecodeError:
        return None
    return fact if fact.v == VERSION else UnknownFact(_type_in(text))


def _type_in(text: str) -> str:
    try:
        raw = _tag_decoder.decode(text).get("type", msgspec.Raw(b'"?"'))
        return str(msgspec.json.decode(raw))
    except (msgspec.DecodeError, RecursionError):
        return "?"


def issue_of_fact(fact: Event | Claim) -> bytes:
    convoy = getattr(fact, "convoy", "")
    task = getattr(fact, "task", 0)
    if not convoy:
        return ids.repository_issue()
    return ids.issue_of(convoy, task)


def record(
    state: State, facts: Iterable[Event], *, actor: bytes, at: int
) -> tuple[State, tuple[GriteEvent, ...]]:
    """Return the state after `facts` and the grite events that carry them.

    Each event gets a time of its own, never going back from what the state knows.
    """
    out: list[GriteEvent] = []
    for fact in facts:
        before = state
        first = max(at, before.moment.at + 1)
        state = _stepped(before, fact, actor.hex(), Moment(at=first))
        shown = tuple(_shown(before, state))
        if shown:  # the fact comes after them, so that the next time is counted from it
            moment = Moment(at=first + len(shown))
            state = _stepped(before, fact, actor.hex(), moment)
        comment = CommentAdded(body_of(fact, fact.sentence()))
        told = enumerate((*shown, (issue_of_fact(fact), comment)), start=first)
        out += (GriteEvent(issue, actor, ts, kind) for ts, (issue, kind) in told)
    return state, tuple(out)


def fold(
    state: State, commit: str, events: Iterable[GriteEvent], by: bytes | None = None
) -> State:
    """Return `state` after the events of one commit, in the order they stand in it.

    Only events of bots change anything, and each of them once, in the commit that its
    bot wrote it into: a copy that another program logged again was decided on another
    state. What a bot wrote that this version does not know is collected in `unknown`.

    `by` is the actor who wrote the commit; None where that is not known.
    """
    state = replace(state, moment=replace(state.moment, commit=commit))
    for event in events:
        if not isinstance(event.kind, CommentAdded) or by not in (None, event.actor):
            continue
        # The times of what bots decide on one chain only grow.
        if event.ts <= state.moment.at:
            continue
        fact = fact_of(event.kind.body)
        actor = event.actor.hex()
        if actor not in state.bots and not isinstance(fact, BotStarted):
            continue
        if isinstance(fact, Event):
            state = _stepped(state, fact, actor, Moment(commit, event.ts))
        elif isinstance(fact, UnknownFact):
            state = replace(state, unknown=(*state.unknown, fact.type))
    return state


def _stepped(state: State, fact: Event, actor: str, moment: Moment) -> State:
    state = replace(state, moment=moment)
    if type(fact) is BotStarted:  # it has no subclass, and this is asked of each event
        return replace(state, bots=state.bots | {actor})
    return fact.change(state)


def _shown(before: State, after: State) -> Iterator[tuple[bytes, Kind]]:
    if after.bots and not before.bots:
        created = IssueCreated("brat", "Concerns the whole repository.", ())
        yield ids.repository_issue(), created
    for name, convoy in after.convoys.at_hand.items():
        old = before.convoys.get(name)
        if old is convoy:
            continue
        own = () if old else ((0, convoy.title, convoy.text, convoy.state),)
        new = (
            (task.number, task.spec.title, task.spec.instructions, task.state)
            for task in convoy.tasks[len(old.tasks) if old else 0 :]
        )
        for number, title, text, status in (*own, *new):
            kind = "task" if number else "convoy"
            labels = (f"convoy:{name}", f"status:{status}", f"type:{kind}")
            created = IssueCreated(broken_up(title), broken_up(text), labels)
            yield ids.issue_of(name, number), created
        yield from _moves(old, convoy) if old is not None else ()


def _moves(old: Convoy, convoy: Convoy) -> Iterator[tuple[bytes, Kind]]:
    both = zip(old.tasks, convoy.tasks, strict=False)
    gone = old.tasks[len(convoy.tasks) :]  # of a plan that was given up
    moves = (
        (0, old.state, convoy.state, convoy.ended),
        *((now.number, was.state, now.state, now.settled) for was, now in both),
        *((was.number, was.state, "dropped", not was.settled) for was in gone),
    )
    for number, was, now, is_closed in moves:
        issue = ids.issue_of(convoy.name, number)
        if was != now:
            yield issue, LabelRemoved(f"status:{was}")
            yield issue, LabelAdded(f"status:{now}")
            if is_closed:
                yield issue, StateChanged("closed")


@dataclass(frozen=True, slots=True)
class Reading:
    """What the log says up to a commit."""

    state: State = field(default_factory=State)
    """Its moment names the commit."""
    faults: tuple[str, ...] = ()
    """What could not be read on the way, by commit."""
    events: int = 0
    """How many of any kind were read to get here from where the reading began."""

    @property
    def head(self) -> str | None:
        """The commit; None: nothing is read yet."""
        return self.state.moment.commit or None


NOTHING_READ: Final = Reading()
_PACKED_EACH: Final = 2_000
"""After so many events a long reading packs the convoys that rest by then."""


def follow(log: Log, head: str, known: Reading = NOTHING_READ) -> Reading:
    """Fold what was logged after what is known, up to `head`.

    Commits that the log lists as foreign are left out.

    Whoever asks has seen that `head` counts; `known` is where to go on.

    Raises:
        Rewritten: `head` does not descend from what is known.
        Missing: the log is not all here, as in a shallow clone.
    """
    state, events = known.state, known.events
    full = events + _PACKED_EACH
    faults: list[str] = []
    for entry in log.read(head, since=known.head, whole=True):
        if entry.is_foreign:
            continue
        state = fold(state, entry.commit, entry.events, entry.actor)
        faults += (f"{entry.commit}: {fault}" for fault in entry.faults)
        events += len(entry.events)
        if events >= full:  # each change of a convoy copies the names of all at hand
            state, full = packed(state), events + _PACKED_EACH
    return Reading(state, (*known.faults, *faults), events)


_encode_convoy: Final = msgspec.json.Encoder().encode
_convoy_decoder: Final = msgspec.json.Decoder(Convoy)


def packed(state: State) -> State:
    """Return the same state, holding those of its convoys packed that rest."""
    at = state.moment.at
    convoys = state.convoys.packing(
        lambda convoy: convoy.rests(at),
        # Level 4 takes half the time of the usual 6, for a thirtieth more bytes.
        lambda it: Packed(it.summary, zlib.compress(_encode_convoy(it), 4), unpack),
    )
    return msgspec.structs.replace(state, convoys=convoys)


def unpack(data: bytes) -> Convoy:
    return _convoy_decoder.decode(zlib.decompress(data))


STATE_VERSION: Final = 2
"""To be raised when the same events fold to another state of the same form."""


class _Resting(msgspec.Struct, frozen=True, array_like=True):
    summary: ConvoySummary
    size: int
    """Of its bytes, which follow those of the one before it in the second part."""


class _Version(msgspec.Struct, frozen=True):
    v: int
    form: str
    """Of the state: another one when a field is new, gone or of another type."""


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    v: int
    form: str
    faults: tuple[str, ...]
    state: msgspec.Raw
    """Without its convoys."""
    at_hand: dict[str, Convoy]
    order: tuple[str, ...]
    """The names of all convoys."""
    packed: msgspec.Raw
    """Those that rest, by name."""
    checksum: str
    """Of `packed` and its bytes: what is unpacked later was sound when it was read."""


_encode: Final = msgspec.json.Encoder(enc_hook=lambda _: None).encode
_version: Final = msgspec.json.Decoder(_Version)
_kept: Final = msgspec.json.Decoder(_Kept)
# Convoys are read as none: they are kept beside the state.
_state: Final = msgspec.json.Decoder(State, dec_hook=lambda _type, _value: Convoys())
_packed: Final = msgspec.json.Decoder(dict[str, _Resting])


def encode_reading(reading: Reading) -> bytes:
    """Return the bytes of what was read; convoys that rest are packed.

    A line of JSON, and after it, as they are, the bytes of what is packed.
    """
    convoys = packed(reading.state).convoys
    data = b"".join(each.data for each in convoys.packed.values())
    resting = _encode(
        {
            name: _Resting(each.summary, len(each.data))
            for name, each in convoys.packed.items()
        }
    )
    line = _encode(
        _Kept(
            v=STATE_VERSION,
            form=_form(),
            faults=reading.faults,
            state=msgspec.Raw(_encode(reading.state)),
            at_hand=dict(convoys.at_hand),
            order=(*convoys,),
            packed=msgspec.Raw(resting),
            checksum=_checksum(resting, data),
        )
    )
    return b"\n".join((line, data)) if data else line


def decode_reading(data: bytes) -> Reading:
    """Return what was read, as a place to go on from.

    Raises:
        Corrupt: there is nothing in `data`, or it is of another version.
    """
    line, _, rest = data.partition(b"\n")
    try:
        by = _version.decode(line)
        if (by.v, by.form) != (STATE_VERSION, _form()):
            raise Corrupt("it was saved by a different version of brat")
        kept = _kept.decode(line)
        state = replace(_state.decode(kept.state), convoys=_convoys(kept, rest))
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Corrupt(f"its state cannot be read: {error}") from error
    if not state.moment.commit:
        raise Corrupt("its state belongs to no commit")
    return Reading(state, kept.faults)


def _convoys(kept: _Kept, data: bytes) -> Convoys[Convoy]:
    if _checksum(kept.packed, data) != kept.checksum:
        raise Corrupt("its packed convoys are damaged")
    resting = _packed.decode(kept.packed)
    if sorted(kept.order) != sorted((*resting, *kept.at_hand)):
        raise Corrupt("its list of names does not match its convoys")
    ends = accumulate(each.size for each in resting.values())
    packed_ones = {
        name: Packed(each.summary, data[end - each.size : end], unpack)
        for (name, each), end in zip(resting.items(), ends, strict=True)
    }
    return Convoys(kept.at_hand, packed_ones, kept.order)


def load_checkpoint(
    repo: pygit2.Repository, commit: str, authority: Authority | None = None
) -> Reading:
    """Return what a checkpoint holds.

    Whether the log passes through the commit it was made at is not looked at here.

    Raises:
        Corrupt: it is no checkpoint that this version can use, or its signature does
            not count.
    """
    data, wal_head = checkpoint.read(repo, commit, authority)
    reading = decode_reading(data)
    if reading.head != wal_head:
        raise Corrupt(f"its state belongs to {reading.head}, not {wal_head}")
    return reading


def _checksum(names: bytes | msgspec.Raw, data: bytes) -> str:
    found = blake2b(bytes(names), digest_size=16)
    found.update(data)
    return found.hexdigest()


@cache
def _form() -> str:
    described = repr(msgspec.inspect.multi_type_info([State, _Kept, _Resting]))
    return blake2b(described.encode(), digest_size=8).hexdigest()
