"""What a patch adds that looks like a secret: said by its file, never shown. Pure.

What the same patch takes away elsewhere is no news, so a file that is moved or laid out
anew is let through. Gate patterns name the files in which made-up ones may stand. Texts
are read in the ways in which a secret is often written otherwise. That is no wall:
whoever compresses, encrypts or cuts up a secret is not found out.

A binary part by `git diff-tree --patch --binary` has two blocks, `literal SIZE` or
`delta SIZE` and lines in base 85: how to make the new file, and how to make the old one
again. A delta holds what is new as it stands.
https://git-scm.com/docs/diff-format, https://git-scm.com/docs/gitformat-pack
"""

import base64
import binascii
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from convoy.gate import is_matched, path_list
from convoy.model.records import Gate
from convoy.text import NO_SECRETS, Redaction, secrets_in

_COMMIT: Final = re.compile(rb"[0-9a-f]{40}\b")
"""How git begins each of several commits."""
_FILE: Final = b"diff --git "
_OCTAL: Final = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPES: Final = {b"t": b"\t", b"n": b"\n", b"r": b"\r"}


def leaks(
    what: str, patch: bytes, gate: Gate, known: Redaction = NO_SECRETS
) -> tuple[str, ...]:
    """Return why a patch may not land that adds a secret, a sentence; or nothing.

    Args:
        what: how the sentence begins, such as "The patch".
        patch: as `git diff-tree --patch` writes it, of one commit or of several.
        gate: names the files that may hold some.
        known: secrets that have no shape.
    """
    found = [
        path for path in _leaking(patch, known) if not is_matched(path, gate.secrets)
    ]
    return (
        (f"{what} adds what looks like a secret: {path_list(found)}.",) if found else ()
    )


def _leaking(patch: bytes, known: Redaction) -> dict[str, None]:
    """Return the files, each once, in which one of the commits adds a secret."""
    found: dict[str, None] = {}
    step = _Step()
    for line in patch.split(b"\n"):
        if _COMMIT.match(line) and not step.is_in_binary:
            found.update(step.leaking(known))
            step = _Step()
        else:
            step.take(line)
    found.update(step.leaking(known))
    return found


class _Step:
    """What one commit adds, by file, and what it takes away."""

    def __init__(self) -> None:
        self._in_hunk = False
        self._binary: BinaryPatch | None = None
        self._path = ""
        self._added: defaultdict[str, list[bytes]] = defaultdict(list)
        self._removed: list[bytes] = []

    @property
    def is_in_binary(self) -> bool:
        """Whether the next line may belong to a binary file."""
        return self._binary is not None

    def take(self, line: bytes) -> None:
        """Take the next line of the patch."""
        if self._binary is not None:
            if self._binary.take(line):
                return
            self._end_binary()
        if line.startswith(b"@@"):
            self._in_hunk = True
        elif self._in_hunk and line.startswith(b"+"):
            self._added[self._path].append(line[1:])
        elif self._in_hunk and line.startswith(b"-"):
            self._removed.append(line[1:])
        elif not (self._in_hunk and line.startswith((b" ", b"\\"))):
            self._in_hunk = False
            self._take_head(line)

    def _take_head(self, line: bytes) -> None:
        if line.startswith(b"+++ "):
            self._path = _path(line[4:])
        elif line.startswith(_FILE):
            both = line[len(_FILE) :]  # the same name twice: renames are not looked for
            self._path = _path(both[len(both) // 2 + 1 :])
        elif line == BINARY_HEAD:
            self._binary = BinaryPatch()

    def _end_binary(self) -> None:
        if self._binary is not None:
            self._added[self._path].append(self._binary.added())
            self._removed.append(self._binary.removed())
            self._binary = None

    def leaking(self, known: Redaction) -> dict[str, None]:
        """Return the files in which it adds a secret."""
        self._end_binary()
        was_there = _secrets(_text(self._removed), known)
        return {
            each: None
            for each, lines in self._added.items()
            if _secrets(_text(lines), known) - was_there
        }


def _secrets(text: str, known: Redaction) -> frozenset[str]:
    found = (secrets_in(each) | known.known_in(each) for each in readings(text))
    return frozenset().union(*found)


def _text(lines: Sequence[bytes]) -> str:
    return b"\n".join(lines).decode("latin-1")


def _path(name: bytes) -> str:
    """Return the path that git writes after `+++`, quoted where it must be."""
    name = name.removesuffix(b"\t")
    if name.startswith(b'"'):
        name = _OCTAL.sub(_unquoted, name[1:-1])
    return name.removeprefix(b"b/").decode(errors="surrogateescape")


def _unquoted(found: re.Match[bytes]) -> bytes:
    code = found[1]
    if len(code) > 1:
        return bytes((int(code, 8) & 255,))
    return _ESCAPES.get(code, code)


BINARY_HEAD: Final = b"GIT binary patch"
MOST_INFLATED: Final = 64_000_000
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
        return zlib.decompressobj().decompress(data, MOST_INFLATED)
    except zlib.error:
        return b""


DEPTH: Final = 2
"""How often what was decoded is decoded again."""
_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/_-]{20,}+={0,2}+\s*+)+")
_HEX: Final = re.compile(r"(?:(?:\\x|%|0x|[ ,:])?[0-9A-Fa-f]{2}+){16,}+", re.ASCII)
_NO_DIGIT: Final = re.compile(r"\\x|0x|[^0-9A-Fa-f]")
_SPACE: Final = re.compile(r"\s+")
_URL_SAFE: Final = str.maketrans("-_", "+/")


def readings(text: str, depth: int = DEPTH) -> Iterator[str]:
    """Give a text as it stands, then reversed, as UTF-16, from base64 and from hex.

    The text is bytes decoded as Latin-1; `depth` is how often what was decoded is
    decoded again.
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
