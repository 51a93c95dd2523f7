"""An answer that stands as a line in the convoy's comment."""

from typing import Final

from msgspec import Struct

MOST: Final = 10
"""How many are kept, the newest: the comment does not grow for ever."""


class ShownAnswer(Struct, frozen=True, kw_only=True):
    """What somebody was answered, and where it was asked."""

    by: str
    text: str
    """Markdown."""
    issue: int
    """The issue or pull request."""
    comment: int = 0
    """The comment that asked; 0: a review, a tick or a button did."""
