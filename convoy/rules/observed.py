"""What the shell observed on the forge: the input of the rules. Pure."""

from typing import Literal

from msgspec import Struct

from convoy.model.records import SubIssue
from convoy.model.work import TargetRules
from convoy.rules.verdict import Checks


class Run(Struct, frozen=True, kw_only=True):
    id: int
    completed: bool
    conclusion: str | None = None
    deleted: bool = False
    """Whether the forge does not show it any more."""


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
    reason: str = ""
    """Why the forge says it left that queue, such as `merged` or `failed_checks`."""
    group: str = ""
    """The commit that CI tested in that queue last; empty: it is in it, or none did."""
    checks: Checks | None = None
    """CI's verdict by the checks that the target's rules name, on that commit if the
    queue has removed it; None: not asked for."""

    @property
    def is_tested(self) -> bool:
        """Whether it is blocked while workflows run on it: nobody need act yet."""
        known = self.checks
        is_running = known is not None and known.more and not known.text
        return self.state == "blocked" and is_running


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
