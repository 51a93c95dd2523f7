"""Finds what a resolved merge lost of either side.

A line that a side added is kept if it stands in the result, or if every word that it
brought does: people join two changes of one line into a new one.
"""

import re
from collections.abc import Iterator
from typing import Final

import pygit2
from msgspec import Struct

_WORD: Final = re.compile(rb"\w+")
_MANY: Final = 2_000_000
"""Bytes; what is lost of a larger file is not looked for."""


class Dropped(Struct, frozen=True):
    """Lines of one file that a side added and the result lacks."""

    path: str
    lines: tuple[str, ...]


def dropped(
    repo: pygit2.Repository, merge: str, work: str, paths: tuple[str, ...]
) -> Iterator[Dropped]:
    """Yield what `work` lost of the sides of a merge, file by file.

    Args:
        repo: holds all commits.
        merge: the commit with the markers; its parents are the sides.
        work: what was made of it.
        paths: the files to look at.
    """
    sides = [str(each) for each in repo[merge].peel(pygit2.Commit).parent_ids]
    base = repo.merge_base(*sides)
    for path in paths:
        made = _text(repo, work, path)
        before = _text(repo, str(base), path) if base else b""
        after = (_text(repo, side, path) for side in sides)
        lines = [line for side in after for line in _lost(before, side, made)]
        if lines:
            shown = (line.decode(errors="replace").strip() for line in lines)
            yield Dropped(path, tuple(dict.fromkeys(shown)))


def _lost(before: bytes, side: bytes, made: bytes) -> Iterator[bytes]:
    """Yield the lines that a side added and that neither stand nor live on."""
    known = {line.strip() for line in (*before.splitlines(), *made.splitlines())}
    old, kept = {*_WORD.findall(before)}, {*_WORD.findall(made)}
    for line in side.splitlines():
        brought = {*_WORD.findall(line)} - old
        if line.strip() not in known and brought - kept:
            yield line


def _text(repo: pygit2.Repository, commit: str, path: str) -> bytes:
    """Return a file's bytes; empty where it is not there, is too large or no text."""
    try:
        found = repo[commit].peel(pygit2.Tree)[path]
    except (KeyError, UnicodeError):
        return b""
    if not isinstance(found, pygit2.Blob) or found.size > _MANY or found.is_binary:
        return b""
    return found.data
