"""Reads a text in the ways in which a secret is often written otherwise. Pure.

Not a wall: whoever compresses, encrypts or cuts up a secret is not found out.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final

DEPTH: Final = 2
"""How often what was decoded is decoded again."""
_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/_-]{20,}+={0,2}+\s*+)+")
_HEX: Final = re.compile(r"(?:(?:\\x|%|0x|[ ,:])?[0-9A-Fa-f]{2}+){16,}+", re.ASCII)
_NO_DIGIT: Final = re.compile(r"\\x|0x|[^0-9A-Fa-f]")
_SPACE: Final = re.compile(r"\s+")
_URL_SAFE: Final = str.maketrans("-_", "+/")


def readings(text: str, depth: int = DEPTH) -> Iterator[str]:
    """Give a text as it stands, then reversed, as UTF-16, from base64 and from hex.

    Args:
        text: bytes decoded as Latin-1.
        depth: how often what was decoded is decoded again.
    """
    yield text
    yield text[::-1]
    if "\0" in text:
        yield text.replace("\0", "")
    if depth:
        for decoded in _decoded(text):
            yield from readings(decoded, depth - 1)


def _decoded(text: str) -> Iterator[str]:
    for run in _BASE64.finditer(text):
        digits = _SPACE.sub("", run[0]).rstrip("=").translate(_URL_SAFE)
        for skipped in range(4):  # what stands before it may be of the same letters
            yield _from_base64(digits[skipped:])
    for run in _HEX.finditer(text):
        digits = _NO_DIGIT.sub("", run[0])
        for skipped in range(2):
            even = (len(digits) - skipped) // 2 * 2
            yield bytes.fromhex(digits[skipped : skipped + even]).decode("latin-1")


def _from_base64(digits: str) -> str:
    whole = digits[: len(digits) - (len(digits) % 4 == 1)].replace("=", "")
    whole += "=" * (-len(whole) % 4)
    try:
        return base64.b64decode(whole).decode("latin-1")
    except binascii.Error:  # signs of padding in the middle
        return ""
