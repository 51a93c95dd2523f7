"""A view whose first part stays on top while the rest scrolls. Pure."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from rich.console import RenderableType

SHARE: Final = 3
"""At most one of so many lines of the screen is pinned."""


class View(Struct, frozen=True):
    """What a live screen shows."""

    rest: RenderableType
    """What is scrolled."""
    pinned: tuple[RenderableType, ...] = ()
    """What stays on top, the most important first."""


def pinned_lines(
    head: str, items: Sequence[Sequence[str]], more: str, lines: int
) -> list[str]:
    """Return the lines to pin; none of `items`: none.

    An item is shown whole or only counted; of one that is too long the beginning is.

    Args:
        head: the line above them.
        items: the lines of each.
        more: where the rest of them is to be seen.
        lines: how many lines the screen has.
    """
    most = max(1, lines // SHARE)
    whole = [head, *(line for item in items for line in item)]
    if not items:
        return []
    if len(whole) <= most:
        return whole
    room = most - 2  # beside the head and the count
    if room <= 0:
        return [f"{head} {len(items)}, see: {more}"]
    kept: list[str] = []
    left = list(items)
    while left and len(kept) + len(left[0]) <= room:
        kept += left.pop(0)
    if not kept:
        kept += left.pop(0)[:room]
    count = f"and {len(left)} more" if left else "and more"
    return [head, *kept, f"  {count}: {more}"]
