"""One person's approval of a task's work."""

from msgspec import Struct


class Approval(Struct, frozen=True, kw_only=True):
    """Who approved which commit, and where the forge shows it."""

    by: str
    commit: str
    review: int = 0
    """The review that said so; 0: it was no review."""
    comment: int = 0
    """The comment that said so; 0: it was no comment."""
