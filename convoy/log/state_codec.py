"""What the log said as bytes, for checkpoints and caches that spare readers its length.

Whoever meets bytes of another version, or of a state in another form, reads the log
instead: half understood, a state would be worse than none.
"""

from functools import cache
from hashlib import blake2b
from typing import Final

import msgspec
import pygit2

from convoy.log.following import Reading
from convoy.model.state import State
from grite import checkpoint
from grite.errors import Corrupt
from grite.log_authority import Authority

VERSION: Final = 1
"""To be raised when the same events fold to another state of the same form."""


class _Kept(msgspec.Struct, frozen=True):
    v: int
    form: str
    """Of the state: another one when a field is new, gone or of another type."""
    faults: tuple[str, ...]
    state: msgspec.Raw


_encode: Final = msgspec.json.Encoder().encode
_kept: Final = msgspec.json.Decoder(_Kept)
_state: Final = msgspec.json.Decoder(State)


def encode(reading: Reading) -> bytes:
    """Return the bytes of what was read."""
    state = msgspec.Raw(_encode(reading.state))
    return _encode(_Kept(VERSION, _form(), reading.faults, state))


def decode(data: bytes) -> Reading:
    """Return what was read, as a place to go on from.

    Raises:
        Corrupt: there is nothing in `data`, or it is of another version.
    """
    try:
        kept = _kept.decode(data)
        if (kept.v, kept.form) != (VERSION, _form()):
            raise Corrupt("it was kept by another version of brat")
        state = _state.decode(kept.state)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Corrupt(f"it holds no state: {error}") from error
    if not state.moment.commit:
        raise Corrupt("its state is of no commit")
    return Reading(state, kept.faults)


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


@cache
def _form() -> str:
    described = repr(msgspec.inspect.type_info(State))
    return blake2b(described.encode(), digest_size=8).hexdigest()
