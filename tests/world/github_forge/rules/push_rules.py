"""The table of rules: what each type forbids, and GitHub's sentence for it.

The sentences are those of real transcripts (tests/bot/forge/transcripts says whose).
A push is never taken for the merge of a pull request: until early 2026 GitHub took one
of exactly the head of an approved pull request, and has stopped doing so. Whether it is
forced, only git knows. A linear history is held by the method of a merge; a push has to
be none, too.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from tests.world.github_forge.rules.rule_bindings import Rule
from tests.world.github_forge.shapes import MergeMethod

CheckState = Literal["pending", "failing", "green"]
Checks = Mapping[str, Mapping[int, CheckState]]
"""By the check's name and the id of the App that reported it; 0: a status."""
_WORDS: Final = {
    "expected": "expected",
    "pending": "in progress",
    "failing": "failing",
}
"""What is said of one check that is not green."""


@dataclass(frozen=True, slots=True)
class MergedPull:
    method: MergeMethod
    approvals: int
    """By people who may write."""
    by_author: bool
    """Whether who merges it opened it."""
    up_to_date: bool
    """Whether its head has everything that its base has."""
    commits: Collection[str]
    """Those that its base does not have."""
    signed: Collection[str]
    """The commits that the forge made and signed."""


@dataclass(frozen=True, slots=True)
class RefChange:
    checks: Checks = field(default_factory=dict)
    """Of the commit that is judged: the new value, or a pull request's head."""
    pull: MergedPull | None = None
    """None: a push, or a ref moved by REST."""

    def brought_up_to_date(self) -> "RefChange":
        """Return the merge of the same pull request, as if it had all of its base."""
        pull = self.pull
        return replace(self, pull=pull and replace(pull, up_to_date=True))


def violations(binding: Iterable[Rule], change: RefChange) -> Iterable[str]:
    """Give what rules have against a change."""
    asked = (rule for rule in binding if rule["type"] in CHECKS)
    found = (CHECKS[rule["type"]](rule.get("parameters"), change) for rule in asked)
    return filter(None, found)


def _signatures(_: object, change: RefChange) -> str:
    """Refuse every commit that the forge did not make: it keeps nobody's keys.

    Of a squash only its one commit counts, which the forge signs if the pull request's
    author merges.
    https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches#require-signed-commits
    """
    pull = change.pull
    if pull is None:
        return ""  # a pull request is required wherever this is
    is_signed = pull.by_author
    if pull.method != "squash":
        is_signed = {*pull.commits} <= {*pull.signed}
    return "" if is_signed else "Commits must have verified signatures."


def _pull_request(asked: Any, change: RefChange) -> str:  # noqa: ANN401  JSON
    count = asked["required_approving_review_count"]
    if change.pull is None:
        return "Changes must be made through a pull request."
    if change.pull.approvals >= count:
        return ""
    what = "review is" if count == 1 else "reviews are"
    return f"At least {count} approving {what} required by reviewers with write access."


def _status_checks(asked: Any, change: RefChange) -> str:  # noqa: ANN401  JSON
    # Of a pull request that is behind GitHub says "expected", however green it is:
    # https://github.com/RakuenSoftware/aimee/pull/2460
    behind = change.pull is not None and not change.pull.up_to_date
    unread = behind and asked["strict_required_status_checks_policy"]
    states = {
        one["context"]: check_state(one, {} if unread else change.checks)
        for one in asked["required_status_checks"]
    }
    missing = [name for name, state in states.items() if state != "green"]
    if len(missing) == 1:
        said = _WORDS[states[missing[0]]]
        return f'Required status check "{missing[0]}" is {said}.'
    some = f"{len(missing)} of {len(states)} required status checks"
    return f"{some} are expected." if missing else ""


def check_state(asked: Rule, checks: Checks) -> str:
    """Return `green`, or why a required check is not: it is red, or not yet there."""
    found = checks.get(asked["context"], {})
    if "integration_id" in asked:
        return found.get(asked["integration_id"], "expected")
    states = set(found.values())
    for state in ("failing", "pending", "green"):
        if state in states:
            return state
    return "expected"


CHECKS: Final[Mapping[str, Callable[[Any, RefChange], str]]] = {
    "update": lambda *_: "Cannot update this protected ref.",
    "required_signatures": _signatures,
    "pull_request": _pull_request,
    "required_status_checks": _status_checks,
    "merge_queue": lambda *_: "Changes must be made through the merge queue",
}
