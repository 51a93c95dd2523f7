"""Reads the binary parts of a patch by `git diff-tree --patch --binary`. Pure.

Each has two blocks, `literal SIZE` or `delta SIZE` and lines in base 85: how to make
the new file, and how to make the old one again. A delta holds what is new as it stands.
https://git-scm.com/docs/diff-format, https://git-scm.com/docs/gitformat-pack
"""

import base64
import re
import zlib
from typing import Final

HEAD: Final = b"GIT binary patch"
MOST: Final = 64_000_000
"""How much of a file is read: a small patch can become a very large file."""
_BLOCK: Final = re.compile(rb"(?:literal|delta) \d+")
_CAPITALS: Final = 26


class BinaryPatch:
    """The blocks of one file."""

    def __init__(self) -> None:
        """Begin behind the line `HEAD`."""
        self._blocks: list[bytearray] = []

    def take(self, line: bytes) -> bool:
        """Take a line; return False if it belongs to the patch no more."""
        if _BLOCK.fullmatch(line):
            self._blocks.append(bytearray())
            return True
        if not line:
            return True
        try:
            self._blocks[-1] += _line(line)
        except (ValueError, IndexError):
            return False
        return True

    def added(self) -> bytes:
        """Return the new file's content, or what is new in it."""
        return _inflated(self._blocks[0]) if self._blocks else b""

    def removed(self) -> bytes:
        """Return the same of the old file."""
        return _inflated(self._blocks[1]) if len(self._blocks) > 1 else b""


def _line(line: bytes) -> bytes:
    """Return the bytes of a line; its first letter says how many they are.

    Raises:
        ValueError: it is no such line.
    """
    first = line[:1]
    if first.isupper():
        size = first[0] - ord("A") + 1
    elif first.islower():
        size = first[0] - ord("a") + _CAPITALS + 1
    else:
        raise ValueError("the line has no length")
    return base64.b85decode(line[1:])[:size]


def _inflated(data: bytes | bytearray) -> bytes:
    try:
        return zlib.decompressobj().decompress(data, MOST)
    except zlib.error:
        return b""
