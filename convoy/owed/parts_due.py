"""The actions due for what is finished of a convoy whose other tasks go on. Pure.

A part is the tip of the convoy's branch: merged tasks, each judged, on the target as it
is. So it lands as the whole does, and nothing of the merge queue is built again for it.
"""

from collections.abc import Iterator

from convoy.model import ids
from convoy.model.attempt import Candidate
from convoy.model.state import Convoy
from convoy.owed.actions import (
    Action,
    BuildConvoy,
    DropPart,
    LandPart,
    OfferPart,
    Reject,
)
from convoy.owed.ci_findings import finding
from convoy.owed.last_step import LEFT_QUEUE, by_forge
from convoy.owed.patience import Patience
from convoy.readiness.observed import Observed
from convoy.readiness.target_moves import taken_in
from convoy.readiness.unlanded_work import wants_part

SILENT = "no check has reported on it"


def part_landings(
    convoy: Convoy, observed: Observed, patience: Patience, now: int
) -> Iterator[Action]:
    """Yield what lands the finished part of a convoy, where that is wanted."""
    tip = observed.refs.get(ids.HEADS + ids.base_branch(convoy.name))
    target = observed.refs.get(ids.HEADS + convoy.target)
    if tip is None or convoy.kept_by or convoy.state not in ("active", "paused"):
        return
    if target != taken_in(convoy) or not wants_part(convoy):
        return
    if tip == convoy.parts.left:
        return
    candidate = convoy.candidate
    if candidate is None or candidate.base != target or _is_old(convoy, candidate, tip):
        yield BuildConvoy(convoy.name, target)
        return
    why = _refused(convoy, candidate, observed, patience, now)
    if why is None:
        yield from _green(convoy, candidate, observed)
    elif why:
        yield DropPart(convoy.name, candidate.commit, why)


def _is_old(convoy: Convoy, candidate: Candidate, tip: str) -> bool:
    """Whether there is more by now; what people look at does not grow meanwhile."""
    return candidate.work != tip and not convoy.parts.branch


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
