"""Long lists in parts, a page each. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

Row = TypeVar("Row")

ROWS: Final = 50
"""On one page."""
DIGITS: Final = 6


@dataclass(frozen=True)
class Part(Generic[Row]):
    """One page of a list."""

    rows: Sequence[Row]
    count: int
    """In the whole list."""
    number: int
    """Which page this is, from 1."""
    last: int
    """How many pages there are; at least 1."""


def part(rows: Sequence[Row], wanted: str) -> Part[Row]:
    """Return the page that a query names: the nearest there is, the first for nonsense.

    Args:
        rows: the whole list.
        wanted: the page's number, as somebody wrote it.
    """
    last = max(1, -(-len(rows) // ROWS))
    plain = wanted.isascii() and wanted.isdigit() and len(wanted) <= DIGITS
    number = min(max(int(wanted), 1), last) if plain else 1
    shown = rows[(number - 1) * ROWS : number * ROWS]
    return Part(rows=shown, count=len(rows), number=number, last=last)
