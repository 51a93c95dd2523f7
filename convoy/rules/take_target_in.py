"""How the target comes into a convoy's branch: by a merge, else by a task of its own.

No convoy ends because its last merge conflicts or is red: an agent looks at it, and
then a person.
"""

from convoy.events.command import Command, Decision, Events, Refusal, live
from convoy.events.plan_edits import TaskAdded
from convoy.events.stalls import LandingStalled
from convoy.events.syncs import SyncAttempted, SyncFailed, SyncLanded
from convoy.kinds.sync_kind import sync_spec
from convoy.model import ids
from convoy.model.state import Convoy, State
from convoy.model.target_sync import TRIES
from convoy.readiness.landing import is_judged
from convoy.readiness.second_looks import LOST_MOST
from convoy.readiness.target_moves import has_own, may_take_in, syncing

REFINERY = "the refinery"
"""The asker that a sync's task names."""


class AttemptSync(Command, frozen=True, kw_only=True):
    """A candidate was built that takes the target into the convoy's branch."""

    convoy: str
    candidate: str
    base: str
    target: str

    def decide(self, state: State) -> Decision:
        """Note the candidate, once."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        if convoy.kept_by or not may_take_in(convoy, self.target):
            return Refusal(f"{convoy.name} takes nothing in now")
        now = convoy.sync.candidate
        offered = (self.candidate, self.base, self.target)
        if now is not None and (now.commit, now.base, now.work) == offered:
            return Refusal(f"{self.candidate} is the candidate already")
        return (
            SyncAttempted(
                convoy=convoy.name,
                candidate=self.candidate,
                base=self.base,
                target=self.target,
            ),
        )


class FailSync(Command, frozen=True, kw_only=True):
    """The target conflicts with the convoy's branch, or CI is red on the candidate.

    Without a candidate it conflicts; with one, only the current one is blamed.
    """

    convoy: str
    candidate: str | None
    target: str
    why: str
    paths: tuple[str, ...] = ()
    """The files that conflict."""
    said: str = ""
    """CI's text."""
    lost: bool = False
    """Whether CI ended without a verdict."""

    def decide(self, state: State) -> Decision:
        """Try once more what CI found red; then add a task that sees to it.

        What CI gave no verdict on is tried again, and then waits for a person.
        """
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        if syncing(convoy) is not None:
            return Refusal(f"a task takes the target into {convoy.name} already")
        is_noted = convoy.sync.left == self.target and not has_own(convoy)
        if self.candidate is None and is_noted:
            return Refusal(f"that {self.target} conflicts is known")
        if self.candidate is not None and not _is_candidate(convoy, self.candidate):
            return Refusal(f"{self.candidate} is not the candidate any more")
        failed = SyncFailed(
            convoy=convoy.name,
            candidate=self.candidate,
            target=self.target,
            why=self.why,
            lost=self.lost,
        )
        if self.lost:
            is_last = convoy.sync.lost + 1 >= LOST_MOST
            waits = LandingStalled(convoy=convoy.name, why=self.why)
            return (failed, waits) if is_last else (failed,)
        return (failed, *self._task(convoy))

    def _task(self, convoy: Convoy) -> Events:
        is_first = self.candidate is not None and convoy.sync.reds + 1 < TRIES
        if is_first or not has_own(convoy):  # then the target is red by itself
            return ()
        spec = sync_spec(convoy, self.why, self.paths, self.said)
        return (TaskAdded(convoy=convoy.name, spec=spec, by=REFINERY),)


class LandSync(Command, frozen=True, kw_only=True):
    """CI judged it green; the same push moves the convoy's branch to it."""

    convoy: str
    candidate: str
    judged: tuple[str, ...]

    def decide(self, state: State) -> Decision:
        """Let the target come into the convoy's branch."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        candidate = convoy.sync.candidate
        if candidate is None or candidate.commit != self.candidate:
            return Refusal(f"{self.candidate} is not the candidate any more")
        if convoy.kept_by:
            return Refusal(f"{self.candidate} may not land now")
        if not is_judged(convoy.settings, self.judged):
            return Refusal(f"{self.candidate} was not judged by all that must be green")
        return (
            SyncLanded(
                convoy=convoy.name,
                candidate=candidate.commit,
                target=candidate.work,
                branch=ids.base_branch(convoy.name),
                judged=self.judged,
            ),
        )


class StallLanding(Command, frozen=True, kw_only=True):
    """CI does not report on what is to land last, or on the target taken in."""

    convoy: str
    why: str

    def decide(self, state: State) -> Decision:
        """Let the convoy's landing wait for a person; its tasks go on."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        if convoy.candidate is None and convoy.sync.candidate is None:
            return Refusal(f"nothing of {convoy.name} is being judged")
        return (LandingStalled(convoy=convoy.name, why=self.why),)


def _is_candidate(convoy: Convoy, commit: str) -> bool:
    return any(
        each is not None and each.commit == commit
        for each in (convoy.sync.candidate, convoy.candidate)
    )
