"""The actions due for a convoy's last step. Pure."""

from collections.abc import Iterator

from convoy.events.target_events import LandingChosen, LandingWaits, PullMergedEarly
from convoy.model.ids import convoy_item
from convoy.model.state import Convoy
from convoy.model.work import Candidate, Landing
from convoy.owed import (
    Action,
    AlignConvoy,
    AskMerge,
    HearDequeue,
    LandConvoy,
    Note,
    Reject,
    TakeLanded,
)
from convoy.rules.landing import merged_commit, own_tip
from convoy.rules.people import FailConvoy
from convoy.rules.target import asked_for, landing_by, learnt_of
from convoy.rules.verdict import Mergeable, Observed

BEHIND = (
    "its branch, a fork's, lacks the newest {0}, and {0} takes merges of pull requests "
    "only: its author has to take that in"
)
LEFT_QUEUE = "the forge's merge queue took its pull request out: see its checks there"


def ways(convoy: Convoy, observed: Observed) -> Iterator[Action]:
    """Yield the choice of another way, where the target's rules ask for it."""
    rules = observed.rules.get(convoy.target)
    is_fix = convoy.given is not None and not convoy.given.lands
    if rules is None or is_fix:  # on a pull request's branch commits are pushed
        return
    known = convoy.landing or Landing()
    learnt = learnt_of(known, convoy.set_aside if convoy.settled else None)
    landing = landing_by(rules, bypass=convoy.settings.bypass, learnt=learnt)
    if landing != convoy.landing:
        choose = LandingChosen(convoy=convoy.name, landing=landing)
        yield Note(None, convoy_item(convoy.name), choose)


def landed_elsewhere(convoy: Convoy, observed: Observed) -> Iterator[Action]:
    """Yield that the forge, or a person, merged the convoy's own pull request."""
    if convoy.settled and (commit := merged_commit(convoy, observed)):
        yield TakeLanded(convoy.name, commit)


def last_step(
    convoy: Convoy, candidate: Candidate, observed: Observed
) -> Iterator[Action]:
    """Yield what lands a convoy whose candidate is green."""
    pull, landing = convoy.pull, convoy.landing or Landing()
    if pull is None:
        is_all_there = candidate.commit == candidate.base
        if is_all_there or convoy.given is not None:  # then its target is its pull's
            yield LandConvoy(convoy.name, candidate.base)
        return
    if landing.way == "push":
        yield LandConvoy(convoy.name, candidate.base)
        return
    seen = observed.mergeable.get(pull)  # None: the next look shows it
    given = convoy.lands_given
    is_there = own_tip(convoy, observed.refs) == candidate.commit
    if not is_there and given is not None and not given.branch:
        end = FailConvoy(convoy=convoy.name, why=BEHIND.format(convoy.target))
        yield Note("refinery", convoy_item(convoy.name), end)
    elif not is_there:
        yield AlignConvoy(convoy.name, candidate.commit)
    elif seen is not None and seen.merged:  # before its branch held all of the work
        early = PullMergedEarly(convoy=convoy.name, pull=pull)
        yield Note("refinery", convoy_item(convoy.name), early)
    elif seen is not None and seen.head == candidate.commit:
        yield from _asked(convoy, landing, candidate, seen)


def _asked(
    convoy: Convoy, landing: Landing, candidate: Candidate, seen: Mergeable
) -> Iterator[Action]:
    waits = asked_for(landing, seen, convoy.target)
    if landing.way == "person":
        waits = waits or f"a person to merge pull request #{convoy.pull}"
    if waits != convoy.landing_waits:
        wait = LandingWaits(convoy=convoy.name, why=waits)
        yield Note("refinery", convoy_item(convoy.name), wait)
    if waits:
        return
    if convoy.asked != candidate.commit:
        yield AskMerge(convoy.name, candidate.commit)
    elif landing.way == "queue" and not seen.queued and seen.dequeued_by:
        yield HearDequeue(convoy.name, seen.dequeued_by)
    elif landing.way == "queue" and not seen.queued:
        yield Reject(convoy.name, 0, candidate.commit, LEFT_QUEUE)
