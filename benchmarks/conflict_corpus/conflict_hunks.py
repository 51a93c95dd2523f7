"""A file's conflict as git shows it: clean text, and hunks that three sides have."""

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from benchmarks.conflict_corpus.conflicting_merges import ConflictFile

_SIZE = 47
"""Markers of so many signs stand in nobody's text."""
_OURS, _BASE = b"<" * _SIZE, b"|" * _SIZE
_THEIRS, _END = b"=" * _SIZE, b">" * _SIZE


@dataclass(frozen=True, kw_only=True)
class ConflictHunk:
    """Lines that both sides changed."""

    base: bytes
    ours: bytes
    theirs: bytes


Refinement = Callable[[ConflictHunk], bytes | None]
"""What becomes of a hunk; None where it stays a conflict."""


def merge_file(file: ConflictFile, *how: str) -> tuple[bytes, bool]:
    """Let git merge a file by its lines; tell the text, and whether that is clean."""
    with tempfile.TemporaryDirectory(prefix="brat-hunks-") as folder:
        sides = {"ours": file.ours, "base": file.base, "theirs": file.theirs}
        for name, text in sides.items():
            (Path(folder) / name).write_bytes(text)
        argv = ["git", "merge-file", "-p", f"--marker-size={_SIZE}", *how, *sides]
        done = subprocess.run(argv, cwd=folder, check=False, capture_output=True)
    return done.stdout, done.returncode == 0


@lru_cache(maxsize=1)
def parts(file: ConflictFile) -> tuple[bytes | ConflictHunk, ...]:
    """Return what git could merge as bytes, and each conflict, in the file's order."""
    return tuple(_parts(file))


def _parts(file: ConflictFile) -> Iterator[bytes | ConflictHunk]:
    sides: dict[bytes, bytes] = {}
    side, clean = b"", b""
    for line in merge_file(file, "--diff3")[0].splitlines(keepends=True):
        mark = line[:_SIZE]
        if mark == _OURS:
            yield clean
            side, clean, sides = mark, b"", {_OURS: b"", _BASE: b"", _THEIRS: b""}
        elif side and mark in sides:
            side = mark
        elif mark == _END:
            yield _hunk(sides)
            side = b""
        elif side:
            sides[side] += line
        else:
            clean += line
    yield clean


def _hunk(sides: dict[bytes, bytes]) -> ConflictHunk:
    return ConflictHunk(base=sides[_BASE], ours=sides[_OURS], theirs=sides[_THEIRS])


def refined(file: ConflictFile, *ways: Refinement) -> bytes | None:
    """Return the file with each hunk merged by the first way that can; None without."""
    merged = b""
    for part in parts(file):
        text = part if isinstance(part, bytes) else _first(part, ways)
        if text is None:
            return None
        merged += text
    return merged


def _first(hunk: ConflictHunk, ways: tuple[Refinement, ...]) -> bytes | None:
    tried = (way(hunk) for way in ways)
    return next((text for text in tried if text is not None), None)


def kept_by_people(file: ConflictFile) -> bool:
    """Tell whether people kept all that git had merged, in its order, and no more.

    Where not, no way of merging the conflicts alone could have been equal to theirs.
    """
    if file.committed is None:
        return False
    texts = [part for part in parts(file) if isinstance(part, bytes)]
    first, *middle, last = texts if len(texts) > 1 else [*texts, b""]
    rest = file.committed
    if not (rest.startswith(first) and rest[len(first) :].endswith(last)):
        return False
    rest = rest[len(first) : len(rest) - len(last)]
    for text in middle:
        before, found, rest = rest.partition(text)
        if text and not found:
            return False
        rest = rest if text else before
    return True
