"""Limits how much content is written in a minute and in an hour."""

from collections import deque
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True)
class Budget:
    """At most `most` pieces of content may be written in `seconds`."""

    most: int
    seconds: float
    reserve: int
    """The part of `most` that only answers to people, and changes of existing content,
    may use."""


GITHUB_CONTENT: Final = (Budget(80, 60, 8), Budget(500, 3600, 50))
"""https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"""


@dataclass
class Spent:
    """The used part of a budget."""

    budget: Budget
    moments: deque[float] = field(default_factory=deque)

    def free_at(self, now: float, *, makes: bool) -> float:
        """Return when one more write is allowed."""
        while self.moments and self.moments[0] <= now - self.budget.seconds:
            self.moments.popleft()
        most = self.budget.most - (self.budget.reserve if makes else 0)
        over = len(self.moments) - most
        return self.moments[over] + self.budget.seconds if over >= 0 else now
