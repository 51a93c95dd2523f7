"""What the log said as bytes, for checkpoints and caches that spare readers its length.

Whoever meets bytes of another version, or of a state in another form, reads the log
instead: half understood, a state would be worse than none.
"""

from functools import cache
from hashlib import blake2b
from itertools import accumulate
from typing import Final

import msgspec
import pygit2
from msgspec.structs import replace

from convoy.log.following import Reading
from convoy.log.packed_convoys import packed, unpack
from convoy.model.convoy_summary import ConvoySummary
from convoy.model.convoys import Convoys, Packed
from convoy.model.state import Convoy, State
from grite import checkpoint
from grite.errors import Corrupt
from grite.log_authority import Authority

VERSION: Final = 2
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


def _absent(_: type, __: object) -> Convoys[Convoy]:
    """Read convoys as none: they are kept beside the state."""
    return Convoys()


_encode: Final = msgspec.json.Encoder(enc_hook=lambda _: None).encode
_version: Final = msgspec.json.Decoder(_Version)
_kept: Final = msgspec.json.Decoder(_Kept)
_state: Final = msgspec.json.Decoder(State, dec_hook=_absent)
_packed: Final = msgspec.json.Decoder(dict[str, _Resting])


def encode(reading: Reading) -> bytes:
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
            v=VERSION,
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


def decode(data: bytes) -> Reading:
    """Return what was read, as a place to go on from.

    Raises:
        Corrupt: there is nothing in `data`, or it is of another version.
    """
    line, _, rest = data.partition(b"\n")
    try:
        by = _version.decode(line)
        if (by.v, by.form) != (VERSION, _form()):
            raise Corrupt("it was kept by another version of brat")
        kept = _kept.decode(line)
        state = replace(_state.decode(kept.state), convoys=_convoys(kept, rest))
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Corrupt(f"it holds no state: {error}") from error
    if not state.moment.commit:
        raise Corrupt("its state is of no commit")
    return Reading(state, kept.faults)


def _convoys(kept: _Kept, data: bytes) -> Convoys[Convoy]:
    if _checksum(kept.packed, data) != kept.checksum:
        raise Corrupt("it holds no state: the packed convoys are damaged")
    resting = _packed.decode(kept.packed)
    if {*kept.order} != {*resting, *kept.at_hand} or len(kept.order) != (
        len(resting) + len(kept.at_hand)
    ):
        raise Corrupt("it holds no state: the names are not those of its convoys")
    ends = accumulate(each.size for each in resting.values())
    packed_ones = {
        name: Packed(each.summary, data[end - each.size : end], unpack)
        for (name, each), end in zip(resting.items(), ends, strict=True)
    }
    return Convoys(kept.at_hand, packed_ones, kept.order)


def load(
    repo: pygit2.Repository, commit: str, authority: Authority | None = None
) -> Reading:
    """Return what a checkpoint holds.

    Whether the log passes through the commit it was made at is not looked at here.

    Args:
        repo: where.
        commit: the checkpoint.
        authority: says whose signature it needs; None: none.

    Raises:
        Corrupt: it is no checkpoint that this version can use, or its signature does
            not count.
    """
    data, wal_head = checkpoint.read(repo, commit, authority)
    reading = decode(data)
    if reading.head != wal_head:
        raise Corrupt(f"its state is of {reading.head}, not of {wal_head}")
    return reading


def _checksum(names: bytes | msgspec.Raw, data: bytes) -> str:
    found = blake2b(bytes(names), digest_size=16)
    found.update(data)
    return found.hexdigest()


@cache
def _form() -> str:
    described = repr(msgspec.inspect.multi_type_info([State, _Kept, _Resting]))
    return blake2b(described.encode(), digest_size=8).hexdigest()
