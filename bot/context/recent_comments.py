"""The comments that were handled lately, as many as fit."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

MOST: Final = 10_000


@dataclass
class RecentComments:
    """A set of comments' ids; when it is full, the oldest is forgotten."""

    _ids: OrderedDict[int, None] = field(default_factory=OrderedDict)

    def add(self, comment: int) -> bool:
        """Remember a comment; return whether it is new."""
        if comment in self._ids:
            return False
        self._ids[comment] = None
        if len(self._ids) > MOST:
            self._ids.popitem(last=False)
        return True

    def discard(self, comment: int) -> None:
        """Forget a comment. Safe to call twice."""
        self._ids.pop(comment, None)
