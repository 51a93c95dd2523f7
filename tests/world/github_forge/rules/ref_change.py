"""What would become of one ref: all that the rules look at, as plain data."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from brat.forge.resources.account_resource import MergeMethod

CheckState = Literal["pending", "failing", "green"]
Checks = Mapping[str, Mapping[int, CheckState]]
"""By the check's name and the id of the App that reported it; 0: a status."""


@dataclass(frozen=True, slots=True)
class PushedFile:
    """A file as a commit leaves it."""

    path: str
    size: int
    """Bytes."""


@dataclass(frozen=True, slots=True)
class PushedCommit:
    """A commit that comes in."""

    sha: str
    parents: int
    files: tuple[PushedFile, ...]
    """Those it adds or changes; of a merge, those that no side had so."""


@dataclass(frozen=True, slots=True)
class MergedPull:
    """The pull request whose merge moves the ref."""

    method: MergeMethod
    approvals: int
    """By people who may write, of its head where stale reviews do not count."""
    approvals_ever: int
    by_author: bool
    """Whether who merges it opened it."""
    up_to_date: bool
    """Whether its head has everything that its base has."""


@dataclass(frozen=True, slots=True)
class RefChange:
    """A ref, its old and its new value, and what that brings in."""

    ref: str
    before: str | None
    after: str | None
    forced: bool = False
    """Whether something that the ref had is gone afterwards."""
    commits: tuple[PushedCommit, ...] = ()
    """Those the ref did not have, newest first."""
    checks: Checks = field(default_factory=dict)
    """Of the commit that is judged: the new value, or a pull request's head."""
    signed: Collection[str] = ()
    """The commits that the forge made and signed."""
    pull: MergedPull | None = None
    """None: a push, or a ref moved by REST."""

    def brought_up_to_date(self) -> "RefChange":
        """Return the merge of the same pull request, as if it had all of its base."""
        pull = self.pull
        return replace(self, pull=pull and replace(pull, up_to_date=True))

    @property
    def is_new(self) -> bool:
        """Whether the ref is made."""
        return self.before is None

    @property
    def kind(self) -> str:
        """GitHub's word for it in its sentences."""
        return "tag" if self.ref.startswith("refs/tags/") else "branch"
