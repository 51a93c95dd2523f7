"""What a push, REST or a merge does to a ref, as the rules look at it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from tests.world.github_forge.shapes import MergeMethod

CheckState = Literal["pending", "failing", "green"]
Checks = Mapping[str, Mapping[int, CheckState]]
"""By the check's name and the id of the App that reported it; 0: a status."""


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
    """A ref's old and its new value, and what that brings in."""

    before: str | None
    after: str | None
    forced: bool = False
    """Whether something that the ref had is gone afterwards; unknown of a push."""
    checks: Checks = field(default_factory=dict)
    """Of the commit that is judged: the new value, or a pull request's head."""
    pull: MergedPull | None = None
    """None: a push, or a ref moved by REST."""

    def brought_up_to_date(self) -> "RefChange":
        """Return the merge of the same pull request, as if it had all of its base."""
        pull = self.pull
        return replace(self, pull=pull and replace(pull, up_to_date=True))

    @property
    def is_new(self) -> bool:
        return self.before is None
