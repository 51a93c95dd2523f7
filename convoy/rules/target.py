"""How a convoy lands on its target: its way by the target's rules, and each step of it.

The way is chosen by what the target's rules ask for:
https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository
Before that the target comes into the convoy's branch: by a merge, else by a task of its
own. No convoy ends because its last merge conflicts or is red: an agent looks at it,
and then a person. Where the forge or a person merges the pull request, the bot asks and
notes what landed.
"""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from convoy.events import ConvoyCommand, Events, Refusal, copied, merge_events
from convoy.events.forge_actions import ActionIntended
from convoy.events.plan_events import TaskAdded
from convoy.events.task_events import ConvoyFailed
from convoy.kinds.task_kinds import sync_spec
from convoy.model import ids
from convoy.model.records import Strategy
from convoy.model.state import Convoy, State
from convoy.model.work import LOST_MOST, Landing, TargetRules, Way
from convoy.rules import completed, holds_own_work
from convoy.rules.landing import (
    check_judged,
    current_candidate,
    may_take_target_in,
)
from convoy.rules.observed import Mergeable
from convoy.rules.turns import sync_task
from convoy.rules.verdict import Checks
from convoy.text import counted

LEARNT: Final = {
    "protected-branch": "pull_request",
    "rule-violation": "pull_request",
    "checks-awaited": "pull_request",  # on which they may report
    "queue-wanted": "queue",
    "signature-wanted": "signed",
}
"""What a refused push to the target tells of its rules, by the refusal's own rule."""
OWNER_REVIEW: Final = "a review from a code owner"
CHANGES_REQUESTED: Final = "an approval by the reviewer who requested changes"
_PREFERRED: Final[tuple[Strategy, ...]] = ("merge", "squash", "rebase")


def landing_by(
    rules: TargetRules, *, bypass: bool, learnt: tuple[str, ...] = ()
) -> Landing:
    """Return how a convoy lands on a branch, whose rules may not all be readable.

    `bypass`: the configuration lets the bot pass rules by; `learnt`: see `LEARNT`.
    """
    if rules.passes and bypass:
        return Landing()
    rules = replace(rules, **{LEARNT[name]: True for name in learnt})
    # The bot's commits carry no signature that the forge knows, so only a commit that
    # the forge makes of them all is signed:
    # https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches#require-signed-commits
    # A branch that takes its target in is not linear, and a rebase would drop how its
    # conflicts were resolved.
    methods = frozenset(rules.methods)
    if not rules.queue and (rules.signed or rules.linear):
        methods &= {"squash"}
    method = next((m for m in _PREFERRED if m in methods), None)
    way = _way(rules)
    if way in ("merge", "queue") and method is None:
        way = "person"
    waits = [OWNER_REVIEW] if rules.owners else []
    waits += ["the resolution of all conversations"] if rules.resolved else []
    waits += [f"a deployment to {environment}" for environment in rules.deployed]
    told = {"method": method or "merge", "waits": tuple(waits), "learnt": learnt}
    return copied(Landing, rules, way=way, **told)


def learnt_of(landing: Landing, aside: ids.SetAside | None) -> tuple[str, ...]:
    """Return the rules learnt from refusals, with what the newest one tells."""
    if aside is None or aside.again or aside.rule not in LEARNT:
        return landing.learnt
    if landing.way != "push" or aside.rule in landing.learnt:
        return landing.learnt
    return (*landing.learnt, aside.rule)


def asked_for(convoy: Convoy, seen: Mergeable) -> str:
    """Return what the forge still asks for before it merges; empty: nothing known."""
    landing, target = convoy.landing or Landing(), convoy.target
    wants_review = landing.reviews or OWNER_REVIEW in landing.waits
    if wants_review and seen.review == "CHANGES_REQUESTED":
        return CHANGES_REQUESTED
    if wants_review and seen.review not in ("", "APPROVED"):
        return ", ".join(landing_wants(replace(landing, checks=())))
    if landing.way == "person":
        return f"a person to merge pull request #{convoy.pull}"
    if landing.way != "merge":
        return ""
    if seen.is_tested:
        return ""
    match seen.state:
        case "blocked":
            rest = replace(landing, checks=_lacking(landing, seen.checks))
            if seen.review == "APPROVED":
                others = tuple(each for each in landing.waits if each != OWNER_REVIEW)
                rest = replace(rest, reviews=0, waits=others)
            named = ", ".join(landing_wants(rest))
            return named or f"what the rules of {target} require"
        case "draft":
            return "its pull request to be ready for review"
        case "behind" | "dirty":
            return f"the latest {target} to be merged into its branch"
        case _:
            return ""


def _lacking(landing: Landing, said: Checks | None) -> tuple[str, ...]:
    """Return which of the checks that the rules name are to pass yet."""
    if said is None or said.verdict == "broken":
        return landing.checks
    if said.verdict == "green":
        return ()
    missing = tuple(name for name in landing.checks if name not in said.names)
    return said.failed or missing or landing.checks


def landing_wants(landing: Landing) -> Iterator[str]:
    """Yield what must be there before the forge merges, in a few words each."""
    if landing.reviews:
        yield counted(landing.reviews, "approving review")
    if landing.checks:
        named = ", ".join(landing.checks)
        yield f"the checks {named}" if len(landing.checks) > 1 else f"the check {named}"
    yield from landing.waits


def _way(rules: TargetRules) -> Way:
    if rules.frozen:
        return "person"
    if rules.queue:
        return "queue"
    wants_merge = rules.pull_request or rules.linear or rules.signed
    return "merge" if wants_merge or rules.reviews or rules.deployed else "push"


class AttemptSync(ConvoyCommand, frozen=True, kw_only=True):
    candidate: str
    base: str
    target: str

    def decide(self, state: State) -> Events:
        convoy = self.live(state)
        if convoy.kept_by or not may_take_target_in(convoy, self.target):
            raise Refusal(f"{convoy.name} cannot merge in its target now")
        now = convoy.sync.candidate
        offered = (self.candidate, self.base, self.target)
        if now is not None and (now.commit, now.base, now.work) == offered:
            raise Refusal(f"{self.candidate} is already the candidate")
        return (copied(merge_events.SyncAttempted, self),)


SYNC_TRIES: Final = 2
"""How often CI must find the target taken in red before an agent looks at it: CI fails
by chance, too."""


class FailSync(ConvoyCommand, frozen=True, kw_only=True):
    """The target conflicts with the convoy's branch, or CI is red on the candidate.

    Without a candidate it conflicts; with one, only the current one is blamed.
    """

    candidate: str | None
    target: str
    why: str
    paths: tuple[str, ...] = ()
    said: str = ""
    """CI's text."""
    lost: bool = False

    def decide(self, state: State) -> Events:
        """Try once more what CI found red; then add a task that sees to it.

        What CI gave no verdict on is tried again, and then waits for a person.
        """
        convoy = self.live(state)
        if sync_task(convoy) is not None:
            raise Refusal(f"a task already merges the target into {convoy.name}")
        is_noted = convoy.sync.left == self.target and not holds_own_work(convoy)
        if self.candidate is None and is_noted:
            raise Refusal(f"{self.target} is already known to conflict")
        judged = {c.commit for c in (convoy.sync.candidate, convoy.candidate) if c}
        if self.candidate is not None and self.candidate not in judged:
            raise Refusal(f"{self.candidate} is no longer the candidate")
        failed = copied(merge_events.SyncFailed, self)
        if self.lost:
            is_last = convoy.sync.lost + 1 >= LOST_MOST
            waits = merge_events.LandingStalled(convoy=convoy.name, why=self.why)
            return (failed, waits) if is_last else (failed,)
        is_first = self.candidate is not None and convoy.sync.reds + 1 < SYNC_TRIES
        if convoy.lands_given is not None and not is_first:
            end = copied(ConvoyFailed, self)
            return (failed, *end.decide(state))
        if is_first or not holds_own_work(convoy):  # then the target is red by itself
            return (failed,)
        spec = sync_spec(convoy, self.why, self.paths, self.said)
        return (failed, TaskAdded(convoy=convoy.name, spec=spec, by="the refinery"))


class LandSync(ConvoyCommand, frozen=True, kw_only=True):
    candidate: str
    judged: tuple[str, ...]

    def decide(self, state: State) -> Events:
        convoy = self.live(state)
        candidate = current_candidate(convoy.sync, self.candidate)
        if convoy.kept_by:
            raise Refusal(f"{self.candidate} cannot land now")
        check_judged(convoy, self.candidate, self.judged)
        branch = ids.base_branch(convoy.name)
        return (
            copied(merge_events.SyncLanded, self, target=candidate.work, branch=branch),
        )


class AskForge(ConvoyCommand, frozen=True, kw_only=True):
    """CI judged the convoy's candidate green: the forge is to merge exactly that."""

    candidate: str
    judged: tuple[str, ...]

    def decide(self, state: State) -> Events:
        convoy = self.live(state)
        current_candidate(convoy, self.candidate)
        check_judged(convoy, self.candidate, self.judged)
        if convoy.kept_back or not convoy.settled:
            raise Refusal(f"{self.candidate} cannot land now")
        if convoy.pull is None:
            raise Refusal(f"{convoy.name} has no pull request yet")
        key = ids.key("land", convoy.name, self.candidate[:12])
        if convoy.asked == self.candidate or key in state.intents:
            raise Refusal(f"the forge was already asked to merge {self.candidate}")
        return (
            copied(ActionIntended, self, key=key, kind="land", text=self.candidate),
        )


class NoteLanded(ConvoyCommand, frozen=True, kw_only=True):
    """The forge shows the convoy's pull request as merged, whoever asked for it."""

    commit: str
    """What is on the target now."""
    judged: tuple[str, ...]
    """The checks that judged what is there; none: it is not what CI judged."""

    def decide(self, state: State) -> Events:
        """Complete the convoy; say so if what landed is not what CI judged."""
        convoy = self.live(state)
        if not convoy.settled:
            raise Refusal(f"{convoy.name} has unfinished tasks")
        what = {"candidate": self.commit, "branch": convoy.target}
        landed = copied(merge_events.MergeLanded, self, task=0, **what)
        why = "" if self.judged else merge_events.UNJUDGED
        return (landed, *completed(convoy, self.commit, why))
