"""What GitHub shows of the records of a forge, and brat's own forge does not.

Both answer with those fields alone that brat or a test reads.
"""

from collections.abc import Callable
from typing import Any, Final, Literal

import pygit2
from pygit2.enums import SortMode

from brat.forge.resources.forge_records import (
    CheckRun,
    Issue,
    IssueEvent,
    Owned,
    Pull,
    Repository,
    Run,
    User,
)
from brat.forge.service.announcements import ForgeContext, Renderer
from brat.forge.storage.git_storage import Bare
from brat.forge.storage.record_store import Store, Table
from tests.world.github_forge.per_store import per_store

MergeMethod = Literal["merge", "squash"]
NOREPLY: Final = "@users.noreply.localhost"


def node_id(kind: str, number: int | str) -> str:
    """Return the id that GraphQL would use: unique for kind and number."""
    return f"{kind}:{number}"


class Review(Owned, frozen=True, kw_only=True):
    """A review; `state` as GitHub writes it: APPROVED, ..."""

    pull: int
    user: int
    body: str
    state: str
    commit: str
    submitted_at: str


class CommitStatus(Owned, frozen=True, kw_only=True):
    """A commit status; the newest of a context counts."""

    sha: str
    state: str
    context: str
    creator: int
    description: str | None = None
    target_url: str | None = None


class _Tables:
    """What a forge's file holds of reviews and statuses."""

    def __init__(self, store: Store) -> None:
        self.reviews = Table(store, Review, lambda r: r.pull)
        self.statuses = Table(store, CommitStatus, lambda r: (r.repo, r.sha))


said_in = per_store(_Tables)
"""The reviews, by their pull requests, and the statuses of a forge."""


class GitHubRenderer(Renderer):
    def __init__(self, context: ForgeContext) -> None:
        super().__init__(context)
        self.more_of_issue: Callable[[Issue], dict[str, Any]] = lambda _: {}
        """Gives what an issue shows beside the forge's own fields."""
        self.merge_state: Callable[[Repository, Pull], str] = lambda *_: "clean"
        """Gives `clean`, or what the rules have against a merge."""
        self._known: dict[tuple[str, str], bool] = {}

    def mergeable_state(self, repo: Repository, pull: Pull) -> str:
        """Return GitHub's word for whether a pull request can be merged."""
        if self._forge.issue_of(pull).state == "closed":
            return "unknown"
        sides = (pull.base_sha, pull.head_sha)
        if sides not in self._known:
            index = self._forge.bare(repo).git.merge_commits(*sides)
            self._known[sides] = index.conflicts is None
        if not self._known[sides]:
            return "dirty"
        return "draft" if pull.draft else self.merge_state(repo, pull)

    def repository(self, repo: Repository) -> object:
        shape = super().repository(repo)
        assert isinstance(shape, dict)
        return shape | {"node_id": node_id("Repository", repo.id)}

    def issue(self, repo: Repository, one: Issue) -> dict[str, Any]:
        author = self.who(one.author)
        knows = self._forge.may(repo, author, "triage")
        shape = super().issue(repo, one) | self.more_of_issue(one)
        return shape | {
            "node_id": node_id("Issue", one.id),
            "author_association": "COLLABORATOR" if knows else "NONE",
        }

    def issue_event(self, repo: Repository, one: IssueEvent) -> dict[str, Any]:
        shape = super().issue_event(repo, one)
        if one.assignee is not None:
            shape["assignee"] = self.user(self.who(one.assignee))
            shape["assigner"] = shape["actor"]
        return shape

    def pull(self, repo: Repository, one: Pull) -> dict[str, Any]:
        shape = super().pull(repo, one)
        return shape | {"node_id": node_id("PullRequest", one.id)}

    def full_pull(self, repo: Repository, one: Pull) -> dict[str, Any]:
        """A pull request, and whether it can be merged."""
        by = one.merged_by and self.user(self.who(one.merged_by))
        state = self.mergeable_state(repo, one)
        return self.pull(repo, one) | {"mergeable_state": state, "merged_by": by}

    def check_run(self, repo: Repository, one: CheckRun) -> dict[str, Any]:
        return super().check_run(repo, one) | {"check_suite": {"id": one.id}}

    def run(self, repo: Repository, one: Run) -> dict[str, Any]:
        actor = self.user(self.who(one.actor))
        return super().run(repo, one) | {"check_suite_id": one.id, "actor": actor}


def between(bare: Bare, base: str, head: str) -> list[pygit2.Commit]:
    walk = bare.git.walk(head, SortMode.TOPOLOGICAL | SortMode.REVERSE)
    walk.hide(base)
    return list(walk)


def signature(who: User) -> pygit2.Signature:
    """Sign as an account, now."""
    return pygit2.Signature(who.login, f"{who.id}+{who.login}{NOREPLY}")


def dressed(service: ForgeContext) -> GitHubRenderer:
    """Let a forge show its records as GitHub does; return what shows them."""
    if not isinstance(service.renderer, GitHubRenderer):
        service.renderer = GitHubRenderer(service)
    return service.renderer
