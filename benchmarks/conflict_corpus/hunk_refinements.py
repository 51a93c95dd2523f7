"""Cheap ways to merge a hunk that git leaves as a conflict: pure, and in no language.

Each looks at the edits that both sides made to what they began with, and joins them
where they do not meet.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from benchmarks.conflict_corpus.conflict_hunks import ConflictHunk

MOST: int = 3_000
"""A hunk of more lines or words is left alone: comparing takes the square of them."""
_WORDS = re.compile(rb"\w+|\s+|[^\w\s]")
_IMPORT = re.compile(
    rb"\s*(?:import\s|from\s+\S+\s+import\s|use\s|pub\s+use\s|mod\s|#include|"
    rb"(?:const|let|var)\s+[^=]+=\s*require\(|require(?:_relative)?\s|$)"
)


@dataclass(frozen=True, order=True)
class _Edit:
    """`start` to `end` of the base become `new`."""

    start: int
    end: int
    new: tuple[bytes, ...]


def adjacent_lines(hunk: ConflictHunk) -> bytes | None:
    """Join edits of different lines, which git refuses where the lines touch.

    A hunk where a side only took lines out is left: they may have moved.
    """
    base, ours, theirs = (side.splitlines(keepends=True) for side in _sides(hunk))
    return _joined(base, ours, theirs)


def separate_words(hunk: ConflictHunk) -> bytes | None:
    """Join edits of different words, also in one line, if they do not touch."""
    base, ours, theirs = map(_WORDS.findall, _sides(hunk))
    return _joined(base, ours, theirs, gap=1)


def both_imports(hunk: ConflictHunk) -> bytes | None:
    """Take the imports of both, each once, where both did nothing but add some."""
    ours, theirs = (side.splitlines(keepends=True) for side in _sides(hunk)[1:])
    if hunk.base.strip() or not all(map(_IMPORT.match, (*ours, *theirs))):
        return None
    return b"".join(dict.fromkeys((*ours, *theirs)))


def both_additions(hunk: ConflictHunk) -> bytes | None:
    """Take ours and then theirs, where both did nothing but add lines."""
    return None if hunk.base.strip() else hunk.ours + hunk.theirs


def _sides(hunk: ConflictHunk) -> tuple[bytes, bytes, bytes]:
    return hunk.base, hunk.ours, hunk.theirs


def _joined(
    base: Sequence[bytes],
    ours: Sequence[bytes],
    theirs: Sequence[bytes],
    gap: int = 0,
) -> bytes | None:
    """Apply both sides' edits; None where two are nearer than `gap` parts."""
    if max(len(base), len(ours), len(theirs)) > MOST:
        return None
    edits = [*_edits(base, ours)], [*_edits(base, theirs)]
    if not all(edit.new for edit in (*edits[0], *edits[1])):
        return None
    if any(_meet(one, two, gap) for one in edits[0] for two in edits[1]):
        return None
    merged, place = b"", 0
    for edit in sorted({*edits[0], *edits[1]}):
        merged += b"".join((*base[place : edit.start], *edit.new))
        place = edit.end
    return merged + b"".join(base[place:])


def _edits(base: Sequence[bytes], side: Sequence[bytes]) -> Iterator[_Edit]:
    matcher = SequenceMatcher(None, base, side, autojunk=False)
    for kind, start, end, first, last in matcher.get_opcodes():
        if kind != "equal":
            yield _Edit(start, end, tuple(side[first:last]))


def _meet(one: _Edit, two: _Edit, gap: int) -> bool:
    if one == two:
        return False
    if one.start == one.end == two.start == two.end:
        return True
    return one.start < two.end + gap and two.start < one.end + gap
