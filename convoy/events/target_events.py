"""How a convoy meets its target: the way it lands, and the target taken in.

A convoy's branch takes its target in while its tasks are done, so that the last step,
into the target, moves it to a commit that CI has judged already.
"""

from msgspec.structs import replace

from convoy.events import SHORT, ConvoyEvent, Decision, Refusal, clause, live
from convoy.events.forge_actions import ItemTakenUp, pull_wanted
from convoy.model.ids import convoy_item
from convoy.model.state import Convoy, Moment, State
from convoy.model.work import Candidate, Landing, TargetSync


class LandingChosen(ConvoyEvent, frozen=True, kw_only=True, tag="landing.chosen"):
    """How the convoy will land under the current rules of its target."""

    landing: Landing
    """The way, what else the rules require, and which rules the bot cannot read."""

    def sentence(self) -> str:
        ways = {
            "push": "with a push",
            "merge": f"through the forge ({self.landing.method})",
            "queue": "through the forge's merge queue",
            "person": "when someone merges it",
        }
        return f"The convoy will land {ways[self.landing.way]}."

    def decide(self, state: State) -> Decision:
        """Try the convoy's own step again where a refusal told more of the rules."""
        convoy = live(state, self.convoy)
        if convoy.landing == self.landing:
            return Refusal(f"{convoy.name} already lands that way")
        known = convoy.landing.learnt if convoy.landing else ()
        if self.landing.learnt == known:
            return (self,)
        return (self, ItemTakenUp(item=convoy_item(convoy.name), works=True))

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, landing=self.landing)


class LandingWaits(ConvoyEvent, frozen=True, kw_only=True, tag="landing.waits"):
    """What the forge still requires before it merges; an empty `why`: nothing."""

    why: str

    def sentence(self) -> str:
        if not self.why:
            return "The convoy's landing is no longer waiting."
        return f"The convoy's landing is waiting for {self.why}."

    def decide(self, state: State) -> Decision:
        if live(state, self.convoy).landing_waits == self.why:
            return Refusal(f"{self.convoy} is already waiting for that")
        return (self,)

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, landing_waits=self.why)


class PullMergedEarly(ConvoyEvent, frozen=True, kw_only=True, tag="pull.merged-early"):
    """Someone merged the convoy's pull request before its branch had all the work."""

    pull: int
    """The pull request's number."""

    def sentence(self) -> str:
        return f"Pull request #{self.pull} was merged early; another will be opened."

    def decide(self, state: State) -> Decision:
        if live(state, self.convoy).pull != self.pull:
            return Refusal(f"#{self.pull} is no longer its pull request")
        return (self, *pull_wanted(state, self.convoy, 0))

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, pull=None)


class SyncAttempted(ConvoyEvent, frozen=True, kw_only=True, tag="sync.attempted"):
    """A candidate that merges the target into the base branch was built for CI."""

    candidate: str
    base: str
    """The tip of the convoy's branch."""
    target: str

    def sentence(self) -> str:
        made, target = self.candidate[:SHORT], self.target[:SHORT]
        return f"Built candidate {made}, which merges target commit {target}."

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        made = Candidate(
            commit=self.candidate, base=self.base, work=self.target, at=now.at
        )
        return replace(convoy, sync=replace(convoy.sync, candidate=made, at=now.at))


class SyncFailed(ConvoyEvent, frozen=True, kw_only=True, tag="sync.failed"):
    """The target conflicts with the convoy's branch, or their merge is not green."""

    candidate: str | None
    """The commit that CI tested; null: there was a conflict."""
    target: str
    why: str
    lost: bool = False
    """Whether CI ended without a verdict because it was cancelled or timed out."""

    def sentence(self) -> str:
        if self.lost:
            return f"The target branch has not been merged yet: {clause(self.why)}."
        return f"The target branch cannot be merged: {clause(self.why)}."

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
    """This push moved the convoy's branch to a commit that merges the target in."""

    task: int = 0
    """The task that did the merge; 0: none was needed."""
    candidate: str
    target: str
    branch: str
    judged: tuple[str, ...]
    """The checks that tested the candidate; `("none",)` if CI is not required."""

    def sentence(self) -> str:
        made, judged = self.candidate[:SHORT], ", ".join(self.judged)
        what = f"target commit {self.target[:SHORT]} into {self.branch}"
        return f"Merged {what} as {made} (checks: {judged})."

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        task = convoy.task(self.task)
        other = task is not None and task.spec.takes  # another branch than its target
        target = convoy.sync.target if other else self.target
        landed = TargetSync(target=target, commit=self.candidate, at=now.at)
        after = replace(convoy, sync=landed, tip=self.candidate)
        if task is not None:  # it may have begun before a person's work was there
            return after
        tasks = (
            replace(each, on_target="") if each.on_target else each
            for each in convoy.tasks
        )
        return replace(after, tasks=tuple(tasks))


class LandingStalled(ConvoyEvent, frozen=True, kw_only=True, tag="landing.stalled"):
    """CI gives no verdict on the convoy's candidate, so a person must act."""

    why: str

    def sentence(self) -> str:
        return f"The convoy's landing is waiting for a person: {clause(self.why)}."

    def decide(self, state: State) -> Decision:
        convoy = live(state, self.convoy)
        if convoy.candidate is None and convoy.sync.candidate is None:
            return Refusal(f"CI is not testing a candidate of {convoy.name}")
        return (self,)

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        sync = replace(convoy.sync, candidate=None, stalled=self.why, at=now.at)
        return replace(convoy, sync=sync, candidate=None)
