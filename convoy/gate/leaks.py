"""What a patch adds that looks like a secret: said by its file, never shown. Pure.

What the same patch takes away elsewhere is no news, so a file that is moved or laid out
anew is let through. Gate patterns name the files in which made-up ones may stand.
Binary files are read as they are. That is no wall: whoever encodes, compresses,
encrypts or cuts up a secret is not found out.
https://git-scm.com/docs/diff-format
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from convoy.gate import is_matched, path_list
from convoy.model.records import Gate
from convoy.text import NO_SECRETS, Redaction, secrets_in

_COMMIT: Final = re.compile(rb"[0-9a-f]{40}\b")
"""How git begins each of several commits."""
_OCTAL: Final = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPES: Final = {b"t": b"\t", b"n": b"\n", b"r": b"\r"}


def leaks(
    what: str, patch: bytes, gate: Gate, known: Redaction = NO_SECRETS
) -> tuple[str, ...]:
    """Return why a patch may not land that adds a secret, a sentence; or nothing.

    Args:
        what: how the sentence begins, such as "The patch".
        patch: as `git diff-tree --patch --text` writes it, of one commit or of several.
        gate: names the files that may hold some.
        known: secrets that have no shape.
    """
    leaking: dict[str, None] = {}  # each file once, in the order of the commits
    step = _Step()
    for line in patch.split(b"\n"):
        if _COMMIT.match(line):
            leaking.update(step.leaking(known))
            step = _Step()
        else:
            step.take(line)
    leaking.update(step.leaking(known))
    found = [path for path in leaking if not is_matched(path, gate.secrets)]
    return (
        (f"{what} adds what looks like a secret: {path_list(found)}.",) if found else ()
    )


class _Step:
    """What one commit adds, by file, and what it takes away."""

    def __init__(self) -> None:
        self._in_hunk = False
        self._path = ""
        self._added: defaultdict[str, list[bytes]] = defaultdict(list)
        self._removed: list[bytes] = []

    def take(self, line: bytes) -> None:
        if line.startswith(b"@@"):
            self._in_hunk = True
        elif self._in_hunk and line.startswith(b"+"):
            self._added[self._path].append(line[1:])
        elif self._in_hunk and line.startswith(b"-"):
            self._removed.append(line[1:])
        elif not (self._in_hunk and line.startswith((b" ", b"\\"))):
            self._in_hunk = False
            if line.startswith(b"+++ "):
                self._path = _path(line[4:])

    def leaking(self, known: Redaction) -> dict[str, None]:
        was_there = _secrets(_text(self._removed), known)
        return {
            each: None
            for each, lines in self._added.items()
            if _secrets(_text(lines), known) - was_there
        }


def _secrets(text: str, known: Redaction) -> frozenset[str]:
    return secrets_in(text) | known.known_in(text)


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
