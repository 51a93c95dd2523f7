"""Convoys that rest, as few bytes: how they are packed and unpacked."""

import zlib
from typing import Final

import msgspec

from convoy.model.convoys import Packed
from convoy.model.state import Convoy, State

_encode: Final = msgspec.json.Encoder().encode
_convoy: Final = msgspec.json.Decoder(Convoy)


def packed(state: State) -> State:
    """Return the same state, holding those of its convoys packed that rest."""
    at = state.moment.at
    convoys = state.convoys.packing(lambda convoy: convoy.rests(at), _pack)
    return msgspec.structs.replace(state, convoys=convoys)


def unpack(data: bytes) -> Convoy:
    """Return the convoy of these bytes, whose checksum has been verified."""
    return _convoy.decode(zlib.decompress(data))


def _pack(convoy: Convoy) -> Packed[Convoy]:
    return Packed(convoy.summary, zlib.compress(_encode(convoy)), unpack)
