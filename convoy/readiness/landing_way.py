"""Which way a convoy lands, by its target's rules. Pure.

https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository
"""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from convoy.model.records import Strategy
from convoy.model.set_aside import SetAside
from convoy.model.target_rules import Landing, TargetRules, Way
from convoy.readiness.observed import Mergeable

LEARNT: Final[dict[str, TargetRules]] = {
    "protected-branch": TargetRules(pull_request=True),
    "rule-violation": TargetRules(pull_request=True),
    "checks-awaited": TargetRules(pull_request=True),  # on which they may report
    "queue-wanted": TargetRules(queue=True),
    "signature-wanted": TargetRules(signed=True),
}
"""What a refused push to the target tells of its rules, by the refusal's own rule."""
_PREFERRED: Final[tuple[Strategy, ...]] = ("merge", "squash", "rebase")


def landing_by(
    rules: TargetRules, *, bypass: bool, learnt: tuple[str, ...] = ()
) -> Landing:
    """Return how a convoy lands on a branch.

    Args:
        rules: the branch's, as far as the bot may read them.
        bypass: whether the configuration lets the bot pass rules by.
        learnt: the rules that refusals told; see `LEARNT`.
    """
    if rules.passes and bypass:
        return Landing()
    for name in learnt:
        rules = _with(rules, LEARNT[name])
    method = next((m for m in _PREFERRED if m in _methods(rules)), None)
    way = _way(rules)
    if way in ("merge", "queue") and method is None:
        way = "person"
    return Landing(
        way=way,
        method=method or "merge",
        reviews=rules.reviews,
        checks=rules.checks,
        waits=tuple(_waits(rules)),
        unknown=rules.unknown,
        learnt=learnt,
    )


def learnt_of(landing: Landing, aside: SetAside | None) -> tuple[str, ...]:
    """Return the rules learnt from refusals, with what the newest one tells."""
    if aside is None or aside.again or aside.rule not in LEARNT:
        return landing.learnt
    if landing.way != "push" or aside.rule in landing.learnt:
        return landing.learnt
    return (*landing.learnt, aside.rule)


def asked_for(landing: Landing, seen: Mergeable, target: str) -> str:
    """Return what the forge still asks for before it merges; empty: nothing known."""
    if landing.reviews and seen.review not in ("", "APPROVED"):
        return ", ".join((_reviews(landing), *landing.waits))
    if landing.way != "merge":
        return ""
    match seen.state:
        case "blocked":
            is_approved = seen.review == "APPROVED"
            rest = replace(landing, reviews=0) if is_approved else landing
            named = ", ".join(wanted(rest))
            return named or f"what the rules of {target} ask for"
        case "draft":
            return "its pull request to leave the draft state"
        case "behind" | "dirty":
            return f"its branch to take in the newest {target}"
        case _:
            return ""


def wanted(landing: Landing) -> Iterator[str]:
    """Yield what must be there before the forge merges, in a few words each."""
    if landing.reviews:
        yield _reviews(landing)
    if landing.checks:
        named = ", ".join(landing.checks)
        yield f"the checks {named}" if len(landing.checks) > 1 else f"the check {named}"
    yield from landing.waits


def _reviews(landing: Landing) -> str:
    many = "approving reviews" if landing.reviews > 1 else "approving review"
    return f"{landing.reviews} {many}"


def _way(rules: TargetRules) -> Way:
    if rules.frozen:
        return "person"
    if rules.queue:
        return "queue"
    wants_merge = rules.pull_request or rules.linear or rules.signed
    return "merge" if wants_merge or rules.reviews or rules.deployed else "push"


def _methods(rules: TargetRules) -> frozenset[Strategy]:
    """Return how the forge may merge the convoy's branch.

    The bot's commits carry no signature that the forge knows, so only a commit that the
    forge makes of them all is signed:
    https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches#require-signed-commits
    A branch that takes its target in is not linear, and a rebase would drop how its
    conflicts were resolved.
    """
    allowed = frozenset(rules.methods)
    if rules.queue:
        return allowed
    return allowed & {"squash"} if rules.signed or rules.linear else allowed


def _waits(rules: TargetRules) -> Iterator[str]:
    if rules.owners:
        yield "a review by the owners of the code"
    if rules.resolved:
        yield "every conversation to be resolved"
    for environment in rules.deployed:
        yield f"a deployment to {environment}"


def _with(rules: TargetRules, more: TargetRules) -> TargetRules:
    return replace(
        rules,
        pull_request=rules.pull_request or more.pull_request,
        queue=rules.queue or more.queue,
        signed=rules.signed or more.signed,
        linear=rules.linear or more.linear,
    )
