"""How what is finished of a convoy lands while other tasks go on."""

from convoy.events.candidates import UNJUDGED
from convoy.events.command import Command, Decision, Refusal, live
from convoy.events.forge_actions import ActionIntended
from convoy.events.landing_choice import PullMergedEarly
from convoy.events.parts import (
    PartFailed,
    PartLanded,
    PartOffered,
    PartRequested,
    Wanted,
)
from convoy.model import ids
from convoy.model.state import Convoy, State
from convoy.readiness.landing import is_judged
from convoy.readiness.unlanded_work import unlanded
from convoy.rules.consequences import completed


class RequestPart(Command, frozen=True, kw_only=True):
    """A person says when what is finished of the convoy lands."""

    convoy: str
    by: str
    how: Wanted = "once"

    def decide(self, state: State) -> Decision:
        """Let it land now, or change when it does."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        why = _once(convoy) if self.how == "once" else _changed(convoy, self.how)
        if why:
            return Refusal(why)
        return (PartRequested(convoy=convoy.name, how=self.how, by=self.by),)


def _changed(convoy: Convoy, how: Wanted) -> str:
    """Return why the way is no other one; empty: it is."""
    is_new = how != convoy.settings.land or convoy.parts.asked_by
    return "" if is_new else f"{convoy.name} lands that way already"


def _once(convoy: Convoy) -> str:
    """Return why nothing of it can land now; empty: it can."""
    if convoy.settled:
        return "all its tasks are settled: it lands as a whole"
    if convoy.parts.asked_by:
        return f"{convoy.parts.asked_by} has asked for that already"
    if not unlanded(convoy):
        return f"nothing is finished that {convoy.target} does not hold"
    if convoy.withdrawn or convoy.taken_out is not None:
        return "its own pull request is out of the merge queue"
    return ""


class FailPart(Command, frozen=True, kw_only=True):
    """CI, or the forge's queue, refuses what is finished without the rest."""

    convoy: str
    candidate: str
    why: str

    def decide(self, state: State) -> Decision:
        """Leave it until there is more, or somebody asks again; blame nobody."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        candidate = convoy.candidate
        if candidate is None or candidate.commit != self.candidate or convoy.settled:
            return Refusal(f"{self.candidate} is not the candidate of a part")
        return (PartFailed(convoy=convoy.name, tip=candidate.work, why=self.why),)


class LandPart(Command, frozen=True, kw_only=True):
    """CI judged it green; the same push moves the target to it."""

    convoy: str
    candidate: str
    tasks: tuple[int, ...]
    """The tasks whose work the candidate holds."""
    judged: tuple[str, ...]

    def decide(self, state: State) -> Decision:
        """Land what is finished; the convoy goes on."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        candidate = convoy.candidate
        if candidate is None or candidate.commit != self.candidate:
            return Refusal(f"{self.candidate} is not the candidate any more")
        if convoy.settled:
            return Refusal(f"all of {convoy.name} is settled: it lands as a whole")
        if not is_judged(convoy.settings, self.judged):
            return Refusal(f"{self.candidate} was not judged by all that must be green")
        if convoy.kept_by or convoy.withdrawn or convoy.taken_out:
            return Refusal(f"{self.candidate} may not land now")
        fresh = {task.number for task in unlanded(convoy)} & {*self.tasks}
        if not fresh:
            return Refusal(f"{convoy.target} holds all of it")
        return (
            PartLanded(
                convoy=convoy.name,
                tasks=tuple(sorted(fresh)),
                tip=candidate.work,
                commit=candidate.commit,
                branch=convoy.target,
                judged=self.judged,
            ),
        )


class OfferPart(Command, frozen=True, kw_only=True):
    """The forge or a person is to merge what is finished, as a branch shows it."""

    convoy: str
    candidate: str

    def decide(self, state: State) -> Decision:
        """Announce its pull request."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        candidate = convoy.candidate
        if candidate is None or candidate.commit != self.candidate or convoy.settled:
            return Refusal(f"{self.candidate} is not the candidate of a part")
        if convoy.pull is not None or convoy.parts.branch:
            return Refusal(f"{convoy.name} has a pull request")
        branch = ids.part_branch(convoy.name, convoy.parts.count + 1)
        key = ids.pull_key(convoy.name, 0)
        return (
            PartOffered(convoy=convoy.name, branch=branch),
            ActionIntended(key=key, kind="pull", convoy=convoy.name),
        )


class NotePart(Command, frozen=True, kw_only=True):
    """The forge shows a part's pull request as merged, whoever asked for it."""

    convoy: str
    pull: int
    tip: str
    """The commit of the convoy that was merged."""
    commit: str
    """What is on the target now."""
    tasks: tuple[int, ...]
    judged: tuple[str, ...]
    """The checks that judged what is there; none: it is not what CI judged."""

    def decide(self, state: State) -> Decision:
        """Note the part; with the last task in it, the convoy is complete."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        if convoy.pull != self.pull or not convoy.parts.branch:
            return Refusal(f"#{self.pull} shows no part of {convoy.name}")
        left = {task.number for task in unlanded(convoy)}
        fresh = tuple(sorted(left & {*self.tasks}))
        if convoy.settled and fresh and left == {*fresh}:
            why = "" if self.judged else UNJUDGED
            return (self._landed(convoy, fresh), *completed(convoy, self.commit, why))
        early = PullMergedEarly(convoy=convoy.name, pull=self.pull)
        noted = self._landed(convoy, fresh) if fresh else early
        if not convoy.settled:
            return (noted,)
        key = ids.pull_key(convoy.name, 0)
        return (noted, ActionIntended(key=key, kind="pull", convoy=convoy.name))

    def _landed(self, convoy: Convoy, tasks: tuple[int, ...]) -> PartLanded:
        return PartLanded(
            convoy=convoy.name,
            tasks=tasks,
            tip=self.tip,
            commit=self.commit,
            branch=convoy.target,
            judged=self.judged,
        )
