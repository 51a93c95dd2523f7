"""The table of rules: what each type forbids, and GitHub's sentence for it.

The sentences are those of real transcripts (tests/bot/forge/transcripts says whose).
A push is never taken for the merge of a pull request: until early 2026 GitHub took one
of exactly the head of an approved pull request, and has stopped doing so.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.world.github_forge.rules import rule_types as rules
from tests.world.github_forge.rules.ref_changes import Checks, RefChange

_WORDS: Final = {
    "expected": "expected",
    "pending": "in progress",
    "failing": "failing",
}
"""What is said of one check that is not green."""


@dataclass(frozen=True, slots=True)
class Violation:
    """What a rule has against a change."""

    text: str


def violations(
    binding: Iterable[rules.Rule], change: RefChange
) -> tuple[Violation, ...]:
    """Return what `binding` has against `change`, each sentence once."""
    asked = (rule for rule in binding if type(rule) in CHECKS)
    found = (CHECKS[type(rule)](rule, change) for rule in asked)
    return tuple(dict.fromkeys(one for one in found if one is not None))


def _update(_: rules.Update, change: RefChange) -> Violation | None:
    if not change.is_new and change.after is not None:
        return Violation("Cannot update this protected ref.")
    return None


def _deletion(_: rules.Deletion, change: RefChange) -> Violation | None:
    if change.after is None:
        return Violation("Cannot delete this branch")
    return None


def _non_fast_forward(_: rules.NonFastForward, change: RefChange) -> Violation | None:
    if change.forced:
        return Violation("Cannot force-push to this branch")
    return None


def _signatures(_: rules.RequiredSignatures, change: RefChange) -> Violation | None:
    """Refuse every commit that the forge did not make: it keeps nobody's keys.

    Of a squash only its one commit counts, which the forge signs if the pull request's
    author merges.
    https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches#require-signed-commits
    """
    pull = change.pull
    if pull is None:
        return None  # a pull request is required wherever this is
    is_signed = pull.by_author
    if pull.method != "squash":
        is_signed = {*pull.commits} <= {*pull.signed}
    said = "Commits must have verified signatures."
    return None if is_signed else Violation(said)


def _pull_request(rule: rules.PullRequest, change: RefChange) -> Violation | None:
    asked, pull = rule.parameters, change.pull
    if pull is None:
        if change.after is None or change.is_new:
            return None
        return Violation("Changes must be made through a pull request.")
    count = asked.required_approving_review_count
    if pull.approvals >= count:
        return None
    what = "review is" if count == 1 else "reviews are"
    return Violation(
        f"At least {count} approving {what} required by reviewers with write access."
    )


def _status_checks(
    rule: rules.RequiredStatusChecks, change: RefChange
) -> Violation | None:
    asked = rule.parameters
    if change.after is None or not asked.required_status_checks:
        return None
    # Of a pull request that is behind GitHub says "expected", however green it is:
    # https://github.com/RakuenSoftware/aimee/pull/2460
    behind = change.pull is not None and not change.pull.up_to_date
    unread = behind and asked.strict_required_status_checks_policy
    states = {
        one.context: check_state(one, {} if unread else change.checks)
        for one in asked.required_status_checks
    }
    missing = [name for name, state in states.items() if state != "green"]
    if len(missing) == 1:
        said = _WORDS[states[missing[0]]]
        return Violation(f'Required status check "{missing[0]}" is {said}.')
    some = f"{len(missing)} of {len(states)} required status checks"
    return Violation(f"{some} are expected.") if missing else None


def check_state(asked: rules.StatusCheck, checks: Checks) -> str:
    """Return `green`, or why a required check is not: it is red, or not yet there."""
    found = checks.get(asked.context, {})
    if asked.integration_id is not None:
        return found.get(asked.integration_id, "expected")
    states = set(found.values())
    for state in ("failing", "pending", "green"):
        if state in states:
            return state
    return "expected"


def _queue(_: rules.MergeQueue, change: RefChange) -> Violation | None:
    if change.after is None or change.is_new:
        return None
    return Violation("Changes must be made through the merge queue")


CHECKS: Final[Mapping[type, Callable[[Any, RefChange], Violation | None]]] = {
    rules.Update: _update,
    rules.Deletion: _deletion,
    rules.NonFastForward: _non_fast_forward,
    rules.RequiredSignatures: _signatures,
    rules.PullRequest: _pull_request,
    rules.RequiredStatusChecks: _status_checks,
    rules.MergeQueue: _queue,
}
"""A linear history is held by the method of a merge; a push has to be none, too."""
