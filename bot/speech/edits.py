"""What is taken out of a text, and what is put there instead."""

import sys
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

NOTE: Final = "(Something that the page does not show was left out here.)"
REST: Final = sys.maxsize
"""The end of an edit that leaves out all the rest of the text."""

Span = tuple[int, int]
"""From and to."""


class Edit(NamedTuple):
    """What is put in the place of a piece of the text."""

    start: int
    end: int
    text: str = ""


def outside(at: int, spans: Sequence[Span]) -> bool:
    """Whether a place lies in none of the spans, which are in order and apart."""
    index = bisect_right(spans, at, key=lambda span: span[0]) - 1
    return index < 0 or at >= spans[index][1]


def applied(edits: Iterable[Edit], text: str) -> str:
    """Return the text with all edits made; one that lies in another does nothing."""
    kept: list[str] = []
    at = 0
    for start, end, instead in sorted(edits, key=_outer_first):
        if start >= at:
            kept += text[at:start], instead
        elif end > at:  # half in the one before: no half of a construct may be left
            kept.append(instead)
        at = max(at, end)
    return "".join([*kept, text[at:]])


def _outer_first(edit: Edit) -> tuple[int, int]:
    return edit.start, -edit.end
