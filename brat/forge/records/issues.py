"""Issues, pull requests, and what is said about them."""

from typing import Literal

from brat.forge.records.record import Record


class Label(Record, frozen=True, kw_only=True):
    """A label of a repository."""

    repo: int
    name: str
    color: str
    description: str | None = None


class Issue(Record, frozen=True, kw_only=True):
    """An issue, or the side of a pull request that is one."""

    repo: int
    number: int
    title: str
    author: int
    created_at: str
    updated_at: str
    body: str | None = None
    state: Literal["open", "closed"] = "open"
    state_reason: str | None = None
    closed_at: str | None = None
    closed_by: int | None = None
    labels: tuple[int, ...] = ()
    comments: int = 0
    pull: bool = False


class IssueEvent(Record, frozen=True, kw_only=True):
    """Something that was done to an issue: `labeled`, `closed`, ..."""

    issue: int
    actor: int
    event: str
    created_at: str
    label: tuple[str, str] | None = None
    """Name and colour as they were then."""
    commit: str | None = None


class Comment(Record, frozen=True, kw_only=True):
    """A comment on an issue or a pull request."""

    repo: int
    issue: int
    number: int
    author: int
    body: str
    created_at: str
    updated_at: str


class Reaction(Record, frozen=True, kw_only=True):
    """A reaction to the issue or comment whose id is `subject`."""

    subject: int
    user: int
    content: str
    created_at: str


class Pull(Record, frozen=True, kw_only=True):
    """What a pull request is beyond its issue. Head and base are in one repository."""

    repo: int
    number: int
    head: str
    """A branch, without refs/heads/."""
    base: str
    head_sha: str
    """Follows the branch while the pull request is open."""
    base_sha: str
    """The base branch's tip when it was last looked at."""
    draft: bool = False
    merged_at: str | None = None
    merged_by: int | None = None
    merge_commit: str | None = None


class Review(Record, frozen=True, kw_only=True):
    """A review; `state` as GitHub writes it: APPROVED, CHANGES_REQUESTED, ..."""

    pull: int
    user: int
    body: str
    state: str
    commit: str
    submitted_at: str
