"""A commit's texts, read from its bytes: what we write again is always UTF-8.

A commit may claim any encoding for its message. Readers differ in whether they believe
it, so that bytes that mean nothing to us can be an order to a forge. What carries such
a claim, or is not UTF-8, is written again.
https://git-scm.com/docs/git-commit#_discussion
"""

import codecs
import re
from typing import Final

import pygit2

_PRINTABLE: Final = bytes(range(0x20, 0x7F)) + rb"\x41 +AFs- ~{AA~} =41"
_LINE_ENDS: Final = re.compile(r"\r\n?")
_NO_NAME: Final = re.compile(r"[<>\x00-\x1f\x7f]")
_ENCODING: Final = b"encoding "


def message(repo: pygit2.Repository, commit: pygit2.Commit) -> str:
    """Return the message with plain line ends.

    An encoding is believed only if it reads ASCII as everybody does; what cannot be
    read is replaced.
    """
    text = _text(_parts(repo, commit)[1], _claimed(repo, commit))
    return _LINE_ENDS.sub("\n", text).replace("\0", "\N{REPLACEMENT CHARACTER}")


def author(repo: pygit2.Repository, commit: pygit2.Commit) -> pygit2.Signature:
    """Return the author, whose name and address are UTF-8."""
    return _person(commit.author, _claimed(repo, commit))


def committer(repo: pygit2.Repository, commit: pygit2.Commit) -> pygit2.Signature:
    """Return the committer, whose name and address are UTF-8."""
    return _person(commit.committer, _claimed(repo, commit))


def is_plain(repo: pygit2.Repository, commit: pygit2.Commit) -> bool:
    """Whether everybody reads the commit alike: as UTF-8, with no other claim."""
    head, said = _parts(repo, commit)
    lines = head.split(b"\n")
    if any(line.startswith(_ENCODING) for line in lines):
        return False
    return all(map(_is_utf8, lines)) and message(repo, commit).encode() == said


def _parts(repo: pygit2.Repository, commit: pygit2.Commit) -> tuple[bytes, bytes]:
    """Return a commit's head and message: libgit2's own would end at a zero byte."""
    _, raw = repo.odb.read(commit.id)
    head, _, said = raw.partition(b"\n\n")
    return head, said.lstrip(b"\n")


def _claimed(repo: pygit2.Repository, commit: pygit2.Commit) -> str | None:
    """Return the encoding that a commit claims; libgit2's own may raise at it."""
    for line in _parts(repo, commit)[0].split(b"\n"):
        if line.startswith(_ENCODING):
            return line.removeprefix(_ENCODING).decode("ascii", "replace")
    return None


def _person(who: pygit2.Signature, claimed: str | None) -> pygit2.Signature:
    if _is_utf8(who.raw_name) and _is_utf8(who.raw_email):
        return who
    name, email = (
        _NO_NAME.sub("", _text(raw, claimed)).strip() or "unknown"
        for raw in (who.raw_name, who.raw_email)
    )
    return pygit2.Signature(name, email, who.time, who.offset)


def _text(raw: bytes, claimed: str | None) -> str:
    try:
        return raw.decode(claimed if claimed and _keeps_ascii(claimed) else "utf-8")
    except UnicodeError:
        return raw.decode(errors="replace")


def _keeps_ascii(encoding: str) -> bool:
    """Whether an encoding reads printable ASCII as ASCII, unlike UTF-7 or UTF-16."""
    try:
        known = codecs.lookup(encoding).name
        if "escape" in known:  # Python's own
            return False
        return _PRINTABLE.decode(known) == _PRINTABLE.decode("ascii")
    except (LookupError, ValueError, TypeError):
        return False


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
