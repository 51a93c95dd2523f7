"""How a forge's hourly allowance is made to last until it is given anew. Pure.

All jobs of a repository together have 1,000 requests an hour.
https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

from typing import Final

from msgspec import Struct

OF_A_JOB: Final = 1_000
"""What GitHub allows the jobs of a repository in an hour, together."""
KEPT: Final = 0.1
"""The part of the allowance that is kept for answers to people."""
FREE: Final = 0.5
"""Above this part nothing is slowed."""


class RequestBudget(Struct, frozen=True, kw_only=True):
    """What the forge said last."""

    limit: int
    left: int
    resets_at: float
    """When all of `limit` is there again, in steady seconds."""

    def spent(self) -> "RequestBudget":
        """Return what is left after one request more."""
        return RequestBudget(
            limit=self.limit, left=max(self.left - 1, 0), resets_at=self.resets_at
        )

    def is_kept(self, now: float) -> bool:
        """Whether what is left is for answers to people alone."""
        return self.left <= self.limit * KEPT and now < self.resets_at

    def pause_s(self, cost: float, now: float) -> float:
        """Return how long to wait after a look, so that others can be taken until then.

        Args:
            cost: how many requests a look takes.
            now: steady seconds.
        """
        left_s = max(self.resets_at - now, 0.0)
        if self.left > self.limit * FREE:
            return 0.0
        spare = self.left - self.limit * KEPT
        return min(left_s, cost * left_s / spare) if spare > 0 else left_s
