"""Long lists in parts, a page each. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

Row = TypeVar("Row")

ROWS: Final = 50
"""Rows on one page."""
DIGITS: Final = 6


@dataclass(frozen=True)
class Part(Generic[Row]):
    """One page of a list."""

    rows: Sequence[Row]
    count: int
    """The number of rows in the whole list."""
    number: int
    """The number of this page, from 1."""
    last: int
    """The number of pages; at least 1."""


def part(rows: Sequence[Row], wanted: str) -> Part[Row]:
    """Return the page that a query names, or the nearest; the first if it is invalid.

    Args:
        rows: the whole list.
        wanted: the page's number as text, unchecked.
    """
    last = max(1, -(-len(rows) // ROWS))
    plain = wanted.isascii() and wanted.isdigit() and len(wanted) <= DIGITS
    number = min(max(int(wanted), 1), last) if plain else 1
    shown = rows[(number - 1) * ROWS : number * ROWS]
    return Part(rows=shown, count=len(rows), number=number, last=last)
