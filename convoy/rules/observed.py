"""What the shell observed on the forge: the input of the rules. Pure."""

from typing import Final, Literal

from msgspec import Struct

from convoy.model import ids
from convoy.model.records import SubIssue
from convoy.model.work import TargetRules

CiVerdict = Literal["none", "pending", "green", "red", "lost", "broken"]
"""`broken`: CI itself cannot judge before a person has acted. `lost`: it ended without
a verdict."""
GITHUB_PASSES: Final = frozenset({"success", "skipped", "neutral"})
"""Conclusions that GitHub lets a required check end with."""


class Run(Struct, frozen=True, kw_only=True):
    id: int
    completed: bool
    conclusion: str | None = None
    deleted: bool = False
    """Whether the forge does not show it any more."""


class Check(Struct, frozen=True, kw_only=True):
    """One job, check run or commit status on a commit, as the forge reports it."""

    id: int
    app: str
    """The App that reported it; of a status the account."""
    app_id: int = 0
    """The App's number; 0: unknown."""
    workflow: str = ""
    """Of a job: its workflow's file and the event that started it; else empty."""
    is_loose: bool = False
    """Whether it only looks like a job's: any job's token can write such a check."""
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
        """Whether it has ended and holds nothing up, as skipped and neutral.

        https://docs.github.com/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/about-status-checks
        """
        return self.status == "completed" and self.conclusion in GITHUB_PASSES

    @property
    def has_tested(self) -> bool:
        return self.status == "completed" and self.conclusion == "success"

    def is_own(self, own_app: str) -> bool:
        """Whether the bot made it, whose App is `own_app`."""
        if self.is_status:
            return ids.is_check_name(self.name)
        return self.app == own_app or ids.is_check_key(self.external)


class Checks(Struct, frozen=True, kw_only=True):
    verdict: CiVerdict
    names: tuple[str, ...] = ()
    """The checks that reported, sorted."""
    failed: tuple[str, ...] = ()
    """The checks that did not pass, sorted."""
    text: str = ""
    """The output of the red checks, for the next attempt, or of those that ask a
    person, for that person. Of what is pending: why nothing but a person may end it."""
    more: bool = False
    """Whether nothing is red but a workflow still running on the commit may add
    checks."""
    reporters: dict[str, str] = {}
    """Who reported each check that passed, by the check's name."""
    missing: tuple[str, ...] = ()
    """The checks that judged what landed before, and do not report."""
    since: int = 0
    """When this verdict was seen first, unix ms; 0: unknown."""
    runs: frozenset[int] = frozenset()
    """The workflow runs seen on the commit; each is awaited until it has ended."""


class PullSeen(Struct, frozen=True, kw_only=True):
    number: int
    open: bool
    merged: bool
    merge_commit: str | None = None
    """The commit that it was merged as; None: it is not merged."""
    head: str
    """The commit that its branch stands at, as far as the forge has noticed."""
    base: str
    """The branch that it is to be merged into, without refs/heads/."""
    draft: bool = False


class Mergeable(Struct, frozen=True, kw_only=True):
    head: str
    """The commit at the tip of its branch."""
    state: str = "unknown"
    """GitHub's `mergeable_state`, such as `clean`, `blocked` or `behind`."""
    merged: str = ""
    """The commit as which it was merged; empty: it is not."""
    review: str = ""
    """GraphQL's `reviewDecision`; empty: none is required, or none is known."""
    queued: bool = False
    dequeued_by: str = ""
    """The person who took it out of that queue last; empty: no person did."""


class IssueSeen(Struct, frozen=True, kw_only=True):
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
    lists: dict[str, tuple[SubIssue, ...]] = {}
    """The sub-issues of live convoys that are planned by them, by the convoy's name."""
    pulls: dict[int, PullSeen] = {}
    """The pull requests of what is not settled, by number."""
    rules: dict[str, TargetRules] = {}
    """The rules of the branches on which convoys land, by branch."""
    mergeable: dict[int, Mergeable] = {}
    """The pull requests of convoys at their last step, by number."""
    unneeded: tuple[int, ...] = ()
    """Runs of CI that go on for candidates that are no longer open."""
