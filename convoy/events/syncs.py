"""How the target is taken into a convoy's branch: candidates, and what became of them.

A convoy's branch takes its target in while its tasks are done, so that the last step,
into the target, moves it to a commit that CI has judged already.
"""

from msgspec.structs import replace

from convoy.events.fact import SHORT, ConvoyEvent, clause
from convoy.model.attempt import Candidate
from convoy.model.state import Convoy, Moment
from convoy.model.target_sync import TargetSync


class SyncAttempted(ConvoyEvent, frozen=True, kw_only=True, tag="sync.attempted"):
    """The target was taken into the convoy's branch, for CI to judge."""

    candidate: str
    base: str
    """The tip of the convoy's branch."""
    target: str

    def sentence(self) -> str:
        return (
            f"Built candidate {self.candidate[:SHORT]}, which takes "
            f"{self.target[:SHORT]} of the target in."
        )

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        made = Candidate(
            commit=self.candidate, base=self.base, work=self.target, at=now.at
        )
        return replace(convoy, sync=replace(convoy.sync, candidate=made, at=now.at))


class SyncFailed(ConvoyEvent, frozen=True, kw_only=True, tag="sync.failed"):
    """The target conflicts with the convoy's branch, or CI is red on both together."""

    candidate: str | None
    """What CI judged; null: it conflicts."""
    target: str
    why: str
    lost: bool = False
    """Whether CI ended without a verdict: it was cancelled, or ran out of time."""

    def sentence(self) -> str:
        if self.lost:
            return f"The target is not taken in yet: {clause(self.why)}."
        return f"The target cannot be taken in: {clause(self.why)}."

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        if self.lost:
            lost = convoy.sync.lost + 1
            again = replace(convoy.sync, candidate=None, at=now.at, lost=lost)
            return replace(convoy, sync=again, candidate=None)
        reds = convoy.sync.reds + (self.candidate is not None)
        failed = replace(
            convoy.sync, candidate=None, at=now.at, reds=reds, left=self.target
        )
        return replace(convoy, sync=failed, candidate=None)


class SyncLanded(ConvoyEvent, frozen=True, kw_only=True, tag="sync.landed"):
    """The convoy's branch moved to a commit that takes the target in, in this push."""

    task: int = 0
    """The task that took it in; 0: nobody had to."""
    candidate: str
    target: str
    branch: str
    judged: tuple[str, ...]
    """The checks that judged the candidate; `("none",)` where CI is not required."""

    def sentence(self) -> str:
        judged = ", ".join(self.judged)
        return (
            f"Took {self.target[:SHORT]} of the target into {self.branch} as "
            f"{self.candidate[:SHORT]} (judged: {judged})."
        )

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        landed = TargetSync(
            target=self.target, commit=self.candidate, taken_at=now.at, at=now.at
        )
        return replace(convoy, sync=landed)
