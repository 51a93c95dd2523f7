"""The actions due for a convoy's last step, and for what is finished before it. Pure.

A part is the tip of the convoy's branch: merged tasks, each judged, on the target as it
is. So it lands as the whole does, and nothing of the merge queue is built again for it.
"""

from collections.abc import Iterator

from convoy.model import ids
from convoy.model.ids import part_item
from convoy.model.state import Convoy, State
from convoy.model.work import Candidate, Landing
from convoy.owed import (
    Action,
    AlignConvoy,
    AskMerge,
    BuildConvoy,
    ChooseWay,
    DropPart,
    HearDequeue,
    LandConvoy,
    LandPart,
    OfferPart,
    OpenAnother,
    Patience,
    Reject,
    TakeLanded,
    TakePart,
    Wait,
)
from convoy.owed.ci_findings import finding
from convoy.rules import head_branch, wants_part
from convoy.rules.landing import target_taken_in
from convoy.rules.target import asked_for, landing_by, learnt_of
from convoy.rules.verdict import Mergeable, Observed

LEFT_QUEUE = "the forge's merge queue took its pull request out: see its checks there"


def ways(state: State, convoy: Convoy, observed: Observed) -> Iterator[Action]:
    """Yield the choice of another way, where the target's rules ask for it."""
    rules = observed.rules.get(convoy.target)
    if rules is None:
        return
    known = convoy.landing or Landing()
    part = state.set_aside.get(part_item(convoy.name))
    learnt = learnt_of(known, convoy.set_aside if convoy.settled else part)
    landing = landing_by(rules, bypass=convoy.settings.bypass, learnt=learnt)
    if landing != convoy.landing:
        yield ChooseWay(convoy.name, landing)


def landed_elsewhere(convoy: Convoy, observed: Observed) -> Iterator[Action]:
    """Yield that the forge, or a person, merged the convoy's own pull request."""
    if convoy.parts.branch:
        commit, head = observed.merged_part(convoy.pull)
        if commit:
            yield TakePart(convoy.name, commit, head)
        return
    branch = observed.refs.get(ids.HEADS + ids.base_branch(convoy.name))
    if convoy.settled and (commit := observed.merged_as(convoy.pull, branch)):
        yield TakeLanded(convoy.name, commit)


def last_step(
    convoy: Convoy, candidate: Candidate, observed: Observed
) -> Iterator[Action]:
    """Yield what lands a convoy whose candidate is green."""
    landing = convoy.landing or Landing()
    if convoy.pull is None:
        if candidate.commit == candidate.base:  # the target holds all of it
            yield LandConvoy(convoy.name, candidate.base)
        return
    if landing.way == "push":
        yield LandConvoy(convoy.name, candidate.base)
        return
    yield from by_forge(convoy, candidate, observed)


def by_forge(
    convoy: Convoy, candidate: Candidate, observed: Observed
) -> Iterator[Action]:
    """Yield what lets the forge merge a green candidate: the whole, or a part."""
    head = observed.refs.get(ids.HEADS + head_branch(convoy))
    if head != candidate.commit:
        yield AlignConvoy(convoy.name, candidate.commit)
        return
    pull, landing = convoy.pull or 0, convoy.landing or Landing()
    seen = observed.mergeable.get(pull)
    if seen is None:
        return  # the next look shows it
    if seen.merged:  # before its branch held all of the work
        if not convoy.parts.branch:
            yield OpenAnother(convoy.name, pull)
    elif seen.head == candidate.commit:
        yield from _asked(convoy, landing, candidate, seen)


def _asked(
    convoy: Convoy, landing: Landing, candidate: Candidate, seen: Mergeable
) -> Iterator[Action]:
    waits = asked_for(landing, seen, convoy.target)
    if landing.way == "person":
        waits = waits or f"a person to merge pull request #{convoy.pull}"
    if waits != convoy.landing_waits:
        yield Wait(convoy.name, waits)
    if waits:
        return
    if convoy.asked != candidate.commit:
        yield AskMerge(convoy.name, candidate.commit)
    elif landing.way == "queue" and not seen.queued and seen.dequeued_by:
        yield HearDequeue(convoy.name, seen.dequeued_by)
    elif landing.way == "queue" and not seen.queued:
        yield Reject(convoy.name, 0, candidate.commit, LEFT_QUEUE)


SILENT = "no check has reported on it"


def part_landings(
    convoy: Convoy, observed: Observed, patience: Patience, now: int
) -> Iterator[Action]:
    """Yield what lands the finished part of a convoy, where that is wanted."""
    tip = observed.refs.get(ids.HEADS + ids.base_branch(convoy.name))
    target = observed.refs.get(ids.HEADS + convoy.target)
    if tip is None or convoy.kept_by or convoy.state not in ("active", "paused"):
        return
    if target != target_taken_in(convoy) or not wants_part(convoy):
        return
    if tip == convoy.parts.left:
        return
    candidate = convoy.candidate
    # There may be more by now; what people look at does not grow meanwhile.
    is_old = candidate and candidate.work != tip and not convoy.parts.branch
    if candidate is None or candidate.base != target or is_old:
        yield BuildConvoy(convoy.name, target)
        return
    why = _refused(convoy, candidate, observed, patience, now)
    if why is None:
        yield from _green(convoy, candidate, observed)
    elif why:
        yield DropPart(convoy.name, candidate.commit, why)


def _green(
    convoy: Convoy, candidate: Candidate, observed: Observed
) -> Iterator[Action]:
    """Yield what lands a part that CI judged green."""
    if convoy.landing is None or convoy.landing.way == "push":
        yield LandPart(convoy.name, candidate.base)
    elif convoy.pull is not None:
        for action in by_forge(convoy, candidate, observed):
            is_out = isinstance(action, Reject)
            yield (
                DropPart(convoy.name, candidate.commit, LEFT_QUEUE)
                if is_out
                else action
            )
    elif not convoy.parts.branch:
        yield OfferPart(convoy.name, candidate.commit)


def _refused(
    convoy: Convoy,
    candidate: Candidate,
    observed: Observed,
    patience: Patience,
    now: int,
) -> str | None:
    """Return why CI refuses a part; None: it is green; empty: CI has not ended."""
    checks = observed.checks.get(candidate.commit)
    match finding(convoy, candidate, checks, patience, now):
        case "green":
            return None
        case "waiting":
            return ""
        case "silent":
            return SILENT
        case _:
            return checks.text if checks else ""
