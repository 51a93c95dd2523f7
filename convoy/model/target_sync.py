"""How far a convoy's branch has taken in the branch that it is to land on."""

from typing import Final

from msgspec import Struct

from convoy.model.attempt import Candidate

TRIES: Final = 2
"""How often CI must find the target taken in red before an agent looks at it: CI fails
by chance, too."""


class TargetSync(Struct, frozen=True, kw_only=True):
    """What was taken in of the target, and what is being tried."""

    target: str = ""
    """The target's commit that was taken in last; empty: the one it began at."""
    commit: str = ""
    """The commit of the convoy's branch that took it in."""
    taken_at: int = 0
    """When that landed, unix ms."""
    candidate: Candidate | None = None
    """A merge of both tips that CI judges; its `work` is the target's commit."""
    at: int = 0
    """When any of this changed last, unix ms."""
    reds: int = 0
    """How often in a row CI found the branch red with the target taken in."""
    lost: int = 0
    """How often CI ended without a verdict on what takes the target in."""
    left: str = ""
    """The target's commit that could not be taken in last; empty: the last could."""
    stalled: str = ""
    """Why landing waits for a person; empty: it does not."""

    @property
    def judged(self) -> int:
        """How many candidates CI was shown that did not land."""
        return self.reds + self.lost
