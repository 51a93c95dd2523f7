"""What is asked of the merge queue."""

from msgspec import Struct

from convoy.events import Cause


class WithdrawMerge(Struct, frozen=True, kw_only=True):
    """A person wants it out of the merge queue; task 0 is the convoy itself."""

    convoy: str
    task: int
    by: str


class RequestMerge(Struct, frozen=True, kw_only=True):
    """A person wants it in the merge queue again; task 0 is the convoy itself."""

    convoy: str
    task: int
    by: str


class RebaseWork(Struct, frozen=True, kw_only=True):
    """The work `old` was put on another base for a person."""

    convoy: str
    task: int
    old: str
    commit: str
    base: str
    by: str


class HoldWork(Struct, frozen=True, kw_only=True):
    """A label says that nothing of this starts or merges; task 0: the convoy."""

    convoy: str
    task: int
    label: str


class ReleaseWork(Struct, frozen=True, kw_only=True):
    """The label is gone; task 0: the convoy's."""

    convoy: str
    task: int


class AttemptMerge(Struct, frozen=True, kw_only=True):
    """A candidate was built; task 0 is the convoy itself."""

    convoy: str
    task: int
    candidate: str
    base: str
    work: str


class FailMerge(Struct, frozen=True, kw_only=True):
    """The work conflicts with what is landed, or CI found the candidate red."""

    convoy: str
    task: int
    candidate: str | None
    cause: Cause
    why: str


class LandMerge(Struct, frozen=True, kw_only=True):
    """CI judged the candidate green; the same push moves the branch to it."""

    convoy: str
    task: int
    candidate: str
    judged: tuple[str, ...]
