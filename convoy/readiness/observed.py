"""What the shell observed: git refs, workflow runs, checks, pull requests."""

from collections.abc import Iterable
from typing import Final, Literal

from msgspec import Struct

from convoy.model import ids
from convoy.model.target_rules import TargetRules

CiVerdict = Literal["none", "pending", "green", "red", "lost", "broken"]
"""`broken`: CI itself cannot judge before a person has acted. `lost`: it ended without
a verdict."""
LOST: Final = frozenset({"cancelled", "timed_out", "startup_failure", "stale"})
"""Conclusions that say nothing about the commit: somebody or something stopped CI.

https://docs.github.com/rest/checks/runs (conclusion)
"""


class Run(Struct, frozen=True, kw_only=True):
    """A workflow run."""

    id: int
    completed: bool
    conclusion: str | None = None


class Check(Struct, frozen=True, kw_only=True):
    """One check run or commit status on a commit, as the forge reports it."""

    id: int
    app: str
    name: str
    status: str
    conclusion: str | None
    text: str = ""
    external: str = ""
    """Its external id; if the bot made it, a key."""
    is_status: bool = False
    """Whether it is a commit status, whose name is its context."""

    @property
    def asks_a_person(self) -> bool:
        """Whether it says nothing about the commit, but that a person has to act.

        https://docs.github.com/rest/checks/runs (action_required)
        """
        return self.status == "completed" and self.conclusion == "action_required"

    @property
    def has_passed(self) -> bool:
        """Whether it has ended with success."""
        return self.status == "completed" and self.conclusion == "success"

    def is_own(self, own_app: str) -> bool:
        """Whether the bot made it, whose App is `own_app`."""
        if self.is_status:
            return ids.is_check_name(self.name)
        return self.app == own_app or ids.is_check_key(self.external)


class Checks(Struct, frozen=True, kw_only=True):
    """CI's verdict on one commit."""

    verdict: CiVerdict
    names: tuple[str, ...] = ()
    """The checks that reported, sorted."""
    failed: tuple[str, ...] = ()
    """The checks that did not pass, sorted."""
    text: str = ""
    """The output of the red checks, for the next attempt, or of those that ask a
    person, for that person."""
    more: bool = False
    """Whether nothing is red but a workflow still running on the commit may add
    checks."""


class PullSeen(Struct, frozen=True, kw_only=True):
    """A pull request as the forge shows it."""

    number: int
    open: bool
    merged: bool
    merge_commit: str | None = None
    """The commit that it was merged as; None: it is not merged."""
    head: str
    """The commit that its branch stands at, as far as the forge has noticed."""
    base: str
    """The branch that it is to be merged into, without refs/heads/."""


class Mergeable(Struct, frozen=True, kw_only=True):
    """What the forge says of a pull request that it is to merge."""

    head: str
    """The commit at the tip of its branch."""
    state: str = "unknown"
    """GitHub's `mergeable_state`, such as `clean`, `blocked` or `behind`."""
    merged: str = ""
    """The commit as which it was merged; empty: it is not."""
    review: str = ""
    """GraphQL's `reviewDecision`; empty: none is required, or none is known."""
    queued: bool = False
    """Whether it stands in the forge's merge queue."""
    dequeued_by: str = ""
    """The person who took it out of that queue last; empty: no person did."""


class IssueSeen(Struct, frozen=True, kw_only=True):
    """An issue as the forge shows it."""

    open: bool
    gone: Literal["", "deleted", "transferred"] = ""
    """Why it is not here any more; empty: it is here."""
    unlabelled_by: str = ""
    """Who took the last label off that shows a convoy; empty: nobody did."""


class Observed(Struct, frozen=True, kw_only=True):
    """One observation of the world; what was not asked for is absent, never guessed."""

    refs: dict[str, str] = {}
    """Full ref names to commit ids."""
    runs: dict[int, Run] = {}
    checks: dict[str, Checks] = {}
    """The checks by commit id."""
    issues: dict[int, IssueSeen] = {}
    """The issues of live convoys, by number."""
    pulls: dict[int, PullSeen] = {}
    """The pull requests of what is not settled, by number."""
    rules: dict[str, TargetRules] = {}
    """The rules of the branches on which convoys land, by branch."""
    mergeable: dict[int, Mergeable] = {}
    """The pull requests of convoys at their last step, by number."""
    unneeded: tuple[int, ...] = ()
    """Runs of CI that go on for candidates that are no longer open."""

    def merged_part(self, pull: int | None) -> tuple[str, str]:
        """Return as what the forge merged a pull request, and its head; else empty."""
        asked, listed = self.mergeable.get(pull or 0), self.pulls.get(pull or 0)
        if asked is not None and asked.merged:
            return asked.merged, asked.head
        if listed is not None and listed.merged and listed.merge_commit:
            return listed.merge_commit, listed.head
        return "", ""

    def merged_as(self, pull: int | None, head: str | None) -> str:
        """Return the commit as which the forge merged a pull request; empty: none.

        Args:
            pull: its number.
            head: what its branch stands at; a merge of anything older does not count.
        """
        asked, listed = self.mergeable.get(pull or 0), self.pulls.get(pull or 0)
        if asked is not None and asked.merged and asked.head == head:
            return asked.merged
        is_whole = listed is not None and listed.merged and listed.head == head
        return (listed.merge_commit or "") if listed and is_whole else ""


def judge(
    reported: Iterable[Check],
    required: tuple[str, ...],
    own_app: str,
    *,
    running: bool = False,
) -> Checks:
    """Return the verdict over a commit's checks.

    Of two runs of one check, the one with the larger id counts; a status and a check
    run of one name both do. Only `success` passes: a skipped or neutral check has
    tested nothing. What was cancelled or ran out of time is no verdict. The bot's own
    checks never count. All `required` checks must be present; without such names
    all present checks must pass, and while a workflow is `running` on the commit some
    may be missing: a job that needs another shows no check before that has passed.

    Source: https://docs.github.com/rest/checks/runs
    """
    newest: dict[tuple[bool, str, str], Check] = {}
    for check in sorted(reported, key=lambda c: c.id):
        if not check.is_own(own_app) and (not required or check.name in required):
            newest[check.is_status, check.app, check.name] = check
    names = tuple(sorted({check.name for check in newest.values()}))
    asking = [c for c in newest.values() if c.asks_a_person]
    ended = [c for c in newest.values() if c.status == "completed" and not c.has_passed]
    lost = [check for check in ended if check.conclusion in LOST]
    if red := [check for check in ended if check not in (*asking, *lost)]:
        return _against("red", names, red)
    if asking:
        text = "\n".join(f"{c.name}: {c.text or c.conclusion}" for c in asking)
        return Checks(verdict="broken", names=names, text=text)
    more = running and not required
    if lost and not more and all(c.status == "completed" for c in newest.values()):
        return _against("lost", names, lost)
    if not newest:
        return Checks(verdict="pending" if more else "none", more=more)
    waits = set(required) - set(names) or not all(c.has_passed for c in newest.values())
    if waits or more:
        return Checks(verdict="pending", names=names, more=more)
    return Checks(verdict="green", names=names)


def _against(
    verdict: CiVerdict, names: tuple[str, ...], said: Iterable[Check]
) -> Checks:
    """Return a verdict with the checks that it is by, and their text."""
    against = tuple(said)
    text = "\n".join(f"{c.name}: {c.conclusion}\n{c.text}".strip() for c in against)
    failed = tuple(sorted({check.name for check in against}))
    return Checks(verdict=verdict, names=names, failed=failed, text=text)


def may_turn(by_runs: Checks, required: tuple[str, ...]) -> bool:
    """Whether commit statuses may change a verdict that check runs alone led to.

    They may where no check run speaks, where a required name is missing, and where all
    is green. What is red stays red, and what check runs are awaited for stays pending.
    """
    if by_runs.verdict in ("none", "green"):
        return True
    return by_runs.verdict == "pending" and not set(required) <= set(by_runs.names)
