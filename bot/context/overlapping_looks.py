"""Looks at a list that grows, each from before the end of the last one.

A list may show an entry late, behind newer ones. Two looks between which nothing was
written are the same request, which the forge answers with 304.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

OVERLAP: Final = timedelta(minutes=5)
"""How late a list may show an entry."""


@dataclass
class Looks:
    """The looks at one list since the process began."""

    begun: datetime
    """Where the first look begins."""
    seen: dict[int, datetime] = field(default_factory=dict)
    """By number, when each entry found lately was last changed, as it was seen."""

    @property
    def since(self) -> datetime:
        """Where the next look begins."""
        newest = max(self.seen.values(), default=self.begun)
        return max(self.begun, newest - OVERLAP)

    def note(self, found: Mapping[int, datetime]) -> None:
        """Remember what a look found, and forget what no later look can find."""
        self.seen |= found
        since = self.since
        self.seen = {number: at for number, at in self.seen.items() if at >= since}
