"""The last step of a convoy where the forge or a person merges its pull request."""

from convoy.events.candidates import UNJUDGED, MergeLanded
from convoy.events.command import Command, Decision, Refusal, live
from convoy.events.forge_actions import ActionIntended
from convoy.events.landing_choice import PullMergedEarly
from convoy.model import ids
from convoy.model.state import State
from convoy.readiness.landing import is_judged
from convoy.readiness.unlanded_work import wants_part
from convoy.rules.consequences import completed


class AskForge(Command, frozen=True, kw_only=True):
    """CI judged the convoy's candidate green: the forge is to merge exactly that."""

    convoy: str
    candidate: str
    judged: tuple[str, ...]

    def decide(self, state: State) -> Decision:
        """Announce the merge of the current candidate, once for each candidate."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        current = convoy.candidate
        if current is None or current.commit != self.candidate:
            return Refusal(f"{self.candidate} is not the candidate any more")
        if not is_judged(convoy.settings, self.judged):
            return Refusal(f"{self.candidate} was not judged by all that must be green")
        out = convoy.withdrawn or convoy.taken_out
        if convoy.kept_by or out or not (convoy.settled or wants_part(convoy)):
            return Refusal(f"{self.candidate} may not land now")
        if convoy.pull is None:
            return Refusal(f"{convoy.name} has no pull request yet")
        key = ids.landing_key(convoy.name, self.candidate)
        if convoy.asked == self.candidate or key in state.intents:
            return Refusal(f"the forge was asked to merge {self.candidate}")
        intent = ActionIntended(
            key=key, kind="land", convoy=convoy.name, text=self.candidate
        )
        return (intent,)


class OpenAnotherPull(Command, frozen=True, kw_only=True):
    """The convoy's pull request was merged before its branch held all of the work."""

    convoy: str
    pull: int

    def decide(self, state: State) -> Decision:
        """Announce another pull request for the rest."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        if convoy.pull != self.pull:
            return Refusal(f"#{self.pull} is not its pull request any more")
        early = PullMergedEarly(convoy=convoy.name, pull=self.pull)
        key = ids.pull_key(convoy.name, 0)
        return (early, ActionIntended(key=key, kind="pull", convoy=convoy.name))


class NoteLanded(Command, frozen=True, kw_only=True):
    """The forge shows the convoy's pull request as merged, whoever asked for it."""

    convoy: str
    commit: str
    """What is on the target now."""
    judged: tuple[str, ...]
    """The checks that judged what is there; none: it is not what CI judged."""

    def decide(self, state: State) -> Decision:
        """Complete the convoy; say so if what landed is not what CI judged."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        if not convoy.settled:
            return Refusal(f"{convoy.name} has tasks that are not settled")
        landed = MergeLanded(
            convoy=convoy.name,
            task=0,
            candidate=self.commit,
            branch=convoy.target,
            judged=self.judged,
        )
        why = "" if self.judged else UNJUDGED
        return (landed, *completed(convoy, self.commit, why))
