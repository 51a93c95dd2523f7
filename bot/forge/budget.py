"""How much content may be written: so much in a minute, so much in an hour."""

from collections import deque
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True)
class Budget:
    """So much content may be written in so many seconds."""

    most: int
    seconds: float
    reserve: int
    """Only changes of what is there already may use the last of it."""


GITHUB_CONTENT: Final = (Budget(80, 60, 8), Budget(500, 3600, 50))
"""https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"""


@dataclass
class Spent:
    """What was used of a budget."""

    budget: Budget
    moments: deque[float] = field(default_factory=deque)

    def free_at(self, now: float, *, makes: bool) -> float:
        """Return from when on one more is allowed."""
        while self.moments and self.moments[0] <= now - self.budget.seconds:
            self.moments.popleft()
        most = self.budget.most - (self.budget.reserve if makes else 0)
        over = len(self.moments) - most
        return self.moments[over] + self.budget.seconds if over >= 0 else now
