"""Charts as shapes for the templates' SVG: bars that need no script. Pure."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

WIDTH: Final = 640
HEIGHT: Final = 120
GAP: Final = 2
WIDEST: Final = 48


class Bar(Struct, frozen=True):
    """One bar, in the units of the chart's view box."""

    name: str
    value: int
    x: float
    y: float
    width: float
    height: float


def bars(values: Sequence[tuple[str, int]]) -> tuple[Bar, ...]:
    """Return a bar for each named value, side by side, the highest as high as it goes.

    Args:
        values: each 0 or more, from left to right.
    """
    most = max((value for _, value in values), default=0) or 1
    step = min(WIDEST, WIDTH / max(1, len(values)))
    width = max(0.5, step - GAP)
    return tuple(
        Bar(name, value, round(step * place, 2), HEIGHT - height, width, height)
        for place, (name, value) in enumerate(values)
        for height in (round(HEIGHT * value / most, 2),)
    )


class Length(Struct, frozen=True):
    """One bar that lies, and a fainter one behind it; widths in percent."""

    name: str
    value: float
    most: float
    y: int
    width: float
    most_width: float


LINE: Final = 24
"""The height of a bar that lies, with its gap."""


def lengths(values: Sequence[tuple[str, float, float]]) -> tuple[Length, ...]:
    """Return a lying bar for each name, its value and the value behind it (or 0)."""
    most = max((max(value, behind) for _, value, behind in values), default=0) or 1
    return tuple(
        Length(
            name,
            value,
            behind,
            LINE * place,
            round(100 * value / most, 2),
            round(100 * behind / most, 2),
        )
        for place, (name, value, behind) in enumerate(values)
    )
