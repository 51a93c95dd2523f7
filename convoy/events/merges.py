"""What happens in the merge queue."""

from convoy.events.parts import Fact, Strategy


class MergeAttempted(Fact, frozen=True, kw_only=True, tag="merge.attempted"):
    """A candidate was built and pushed for CI to judge; task 0 is the convoy itself."""

    convoy: str
    task: int
    strategy: Strategy
    candidate: str
    base: str
    """The commit the candidate stands on: the branch's tip or the candidate ahead."""
    work: str
    """The commit whose work it carries."""


class MergeFailed(Fact, frozen=True, kw_only=True, tag="merge.failed"):
    """It conflicts, or CI found it red."""

    convoy: str
    task: int
    candidate: str | None
    why: str


class MergeLanded(Fact, frozen=True, kw_only=True, tag="merge.landed"):
    """The branch moved to the candidate, unchanged, in the push that carries this."""

    convoy: str
    task: int
    candidate: str
    branch: str
    judged: tuple[str, ...]
    """The checks that judged the candidate; `("none",)` where CI is not required."""


class MergeWithdrawn(Fact, frozen=True, kw_only=True, tag="merge.withdrawn"):
    """A person takes it out of the merge queue; task 0 is the convoy itself."""

    convoy: str
    task: int
    by: str


class MergeRequested(Fact, frozen=True, kw_only=True, tag="merge.requested"):
    """A person puts it back into the merge queue; task 0 is the convoy itself."""

    convoy: str
    task: int
    by: str
