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
