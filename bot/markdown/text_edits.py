"""Edits of a text: the pieces to remove, and their replacements."""

import sys
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

NOTE: Final = "(Something that the page does not show was left out here.)"
REST: Final = sys.maxsize
"""The end of an edit that leaves out all the rest of the text."""

Span = tuple[int, int]
"""Start and end."""


class Edit(NamedTuple):
    """The replacement of a piece of the text."""

    start: int
    end: int
    text: str = ""


def outside(at: int, spans: Sequence[Span]) -> bool:
    """Whether a place lies in none of the spans, which are sorted and disjoint."""
    index = bisect_right(spans, at, key=lambda span: span[0]) - 1
    return index < 0 or at >= spans[index][1]


def applied(edits: Iterable[Edit], text: str) -> str:
    """Return the text with all edits made; an edit inside another does nothing."""
    kept: list[str] = []
    at = 0
    for start, end, instead in sorted(edits, key=_outer_first):
        if start >= at:
            kept += text[at:start], instead
        elif end > at:  # overlaps the previous edit: remove all of both
            kept.append(instead)
        at = max(at, end)
    return "".join([*kept, text[at:]])


def _outer_first(edit: Edit) -> tuple[int, int]:
    return edit.start, -edit.end
