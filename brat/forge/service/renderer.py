"""Records as callers see them, with everything that a view needs looked up.

Endpoints and webhooks show the same things, as GitHub does.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

import pygit2
from msgspec import Raw

from brat.forge.resources import account_resource, issue_resource, run_resource
from brat.forge.resources.account_resource import Repository, User
from brat.forge.resources.issue_resource import (
    Comment,
    Issue,
    IssueEvent,
    Label,
    Pull,
    Reaction,
)
from brat.forge.resources.run_resource import CheckRun, Run
from brat.forge.resources.wire import Site
from brat.forge.storage.forge_state import Forge
from brat.forge.storage.git_storage import Bare


class ForgeContext:
    """A forge's state, where it is reached, and what runs in the background."""

    def __init__(self, forge: Forge, tasks: asyncio.TaskGroup) -> None:
        self.forge = forge
        self.site = Site()
        self._tasks = tasks
        self._running: set[asyncio.Task[None]] = set()
        self._locks: dict[int, asyncio.Lock] = defaultdict(asyncio.Lock)

    def lock(self, repo: Repository) -> asyncio.Lock:
        """The lock under which refs of a repository move."""
        return self._locks[repo.id]

    def spawn(self, work: Coroutine[None, None, None], name: str) -> None:
        """Run something in the background until it ends or the forge stops."""
        task = self._tasks.create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def stop(self) -> None:
        """End all background work; workflow runs live on. Safe to call twice."""
        for task in self._running:
            task.cancel()


MOST_KNOWN = 10_000


class RefJudge(Protocol):
    """Rules of repositories: brat's forge has none, the one of its tests GitHub's."""

    def merge_state(self, repo: Repository, pull: Pull, /) -> str:
        """Return `clean`, `behind` or `blocked`."""


class Merges:
    """Says whether a pull request can be merged."""

    def __init__(self, forge: Forge) -> None:
        self._forge = forge
        self.judge: RefJudge | None = None
        self._known: dict[tuple[str, str], bool] = {}

    def mergeable(
        self, repo: Repository, pull: Pull, issue: Issue
    ) -> tuple[bool | None, str]:
        """Say whether a pull request merges cleanly, and GitHub's word for that."""
        if issue.state == "closed":
            return None, "unknown"
        sides = (pull.base_sha, pull.head_sha)
        if sides not in self._known:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            index = self._forge.bare(repo).git.merge_commits(*sides)
            self._known[sides] = index.conflicts is None
        if not self._known[sides]:
            return False, "dirty"
        if pull.draft:
            return True, "draft"
        return True, self.judge.merge_state(repo, pull) if self.judge else "clean"


def signature(who: User) -> pygit2.Signature:
    """Sign as an account, now."""
    return pygit2.Signature(who.login, f"{who.id}+{who.login}@users.noreply.localhost")


GHOST = User(id=10137, login="ghost", kind="User", created_at=account_resource.EPOCH)
"""The account that stands in for deleted accounts."""


class Renderer:
    """Shows records of one forge."""

    def __init__(self, context: ForgeContext, merges: Merges) -> None:
        self._context = context
        self._merges = merges
        self._forge = context.forge
        self._store = context.forge.store
        self.more_of_issue: Callable[[Issue], dict[str, Any]] = lambda _: {}
        """Gives what an issue shows beside the forge's own fields."""

    def who(self, number: int | None) -> User:
        """Return an account by its id."""
        known = self._store.users.get(number) if number is not None else None
        return known or GHOST

    def user(self, who: User) -> dict[str, Any]:
        return account_resource.user(self._context.site, who)

    def owner(self, repo: Repository) -> User:
        """Return the account that owns a repository."""
        return self._forge.user(repo.owner) or GHOST

    def repository(self, repo: Repository) -> Raw:
        """A repository, encoded."""
        return account_resource.repository(self._context.site, repo, self.owner(repo))

    def association(self, repo: Repository, who: User) -> str:
        """An author's association with a repository, in GitHub's words."""
        if who.login.lower() == repo.owner.lower():
            return "OWNER"
        return "COLLABORATOR" if self._forge.may(repo, who, "triage") else "NONE"

    # --- issues -------------------------------------------------------------------

    def labels(self, one: Issue) -> tuple[Label, ...]:
        """Return the labels of an issue."""
        known = (self._store.labels.get(number) for number in one.labels)
        return tuple(label for label in known if label is not None)

    def issue(self, repo: Repository, one: Issue) -> dict[str, Any]:
        facts = self._facts(repo, one)
        closer = self.who(one.closed_by) if one.closed_by is not None else None
        shape: dict[str, Any] = issue_resource.issue(
            self._context.site, one, facts, self.labels(one), closer
        )
        return shape | self.more_of_issue(one)

    def comment(self, repo: Repository, one: Comment) -> dict[str, Any]:
        pulls = (pull.number for pull in self._store.pulls.of(repo.id))
        facts = self._facts(repo, one)
        return issue_resource.comment(
            self._context.site, one, facts, on_pull=one.number in pulls
        )

    def label(self, repo: Repository, one: Label) -> dict[str, Any]:
        return issue_resource.label(self._context.site, repo, one)

    def issue_event(self, repo: Repository, one: IssueEvent) -> dict[str, Any]:
        """Something that was done to an issue."""
        assignee = self.who(one.assignee) if one.assignee is not None else None
        people = (self.who(one.actor), assignee)
        return issue_resource.event(self._context.site, repo, one, people)

    def reaction(self, one: Reaction) -> dict[str, Any]:
        return issue_resource.reaction(self._context.site, one, self.who(one.user))

    def _facts(self, repo: Repository, one: Issue | Comment) -> issue_resource.Facts:
        author = self.who(one.author)
        reactions = tuple(self._store.reactions.of(one.id))
        association = self.association(repo, author)
        people = self._assignees(one) if isinstance(one, Issue) else ()
        return issue_resource.Facts(repo, author, association, reactions, people)

    def _assignees(self, one: Issue) -> tuple[User, ...]:
        return tuple(self.who(number) for number in one.assignees)

    # --- pull requests ------------------------------------------------------------

    def pull(self, repo: Repository, one: Pull) -> dict[str, Any]:
        """A pull request as lists show it."""
        return issue_resource.pull(self._context.site, one, self._pull_facts(repo, one))

    def full_pull(self, repo: Repository, one: Pull) -> dict[str, Any]:
        """A pull request with its size, and whether it can be merged."""
        facts = self._pull_facts(repo, one)
        mergeable = self._merges.mergeable(repo, one, facts.issue)
        size = self._size(repo, one, mergeable)
        return issue_resource.full_pull(self._context.site, one, facts, size)

    def announced_pull(self, repo: Repository, one: Pull) -> dict[str, Any]:
        """A pull request as webhooks show it, before anybody knows if it can merge."""
        facts = self._pull_facts(repo, one)
        size = self._size(repo, one, (None, "unknown"))
        return issue_resource.full_pull(self._context.site, one, facts, size)

    def _pull_facts(self, repo: Repository, one: Pull) -> issue_resource.PullFacts:
        issue = self._forge.issue_of(one)
        author = self.who(issue.author)
        return issue_resource.PullFacts(
            repo=repo,
            owner=self.owner(repo),
            issue=issue,
            author=author,
            association=self.association(repo, author),
            labels=self.labels(issue),
            assignees=self._assignees(issue),
        )

    def _size(
        self, repo: Repository, one: Pull, mergeable: tuple[bool | None, str]
    ) -> issue_resource.Size:
        bare = self._forge.bare(repo)
        fork = bare.fork_point(one.base_sha, one.head_sha)
        stats = diff(bare, fork, one.head_sha).stats if fork else None
        return issue_resource.Size(
            mergeable=mergeable[0],
            state=mergeable[1],
            merger=self.who(one.merged_by) if one.merged_by is not None else None,
            commits=len(bare.between(one.base_sha, one.head_sha)),
            additions=stats.insertions if stats else 0,
            deletions=stats.deletions if stats else 0,
            files=stats.files_changed if stats else 0,
        )

    # --- checks and runs ----------------------------------------------------------

    def check_run(self, repo: Repository, one: CheckRun) -> dict[str, Any]:
        judged = [
            pull
            for pull in self._store.pulls.of(repo.id)
            if pull.head_sha == one.head_sha
            and self._forge.issue_of(pull).state == "open"
        ]
        return run_resource.check_run(self._context.site, repo, one, judged)

    def run(self, repo: Repository, one: Run) -> dict[str, Any]:
        head = self._forge.bare(repo).commit(one.head_sha)
        found = (repo, self.repository(repo))
        return run_resource.run(
            self._context.site, one, found, self.who(one.actor), head
        )


def diff(bare: "Bare", base: str, head: str) -> pygit2.Diff:
    """Return the diff from one commit to another, with renames detected."""
    one, other = bare.git[base].peel(pygit2.Commit), bare.git[head].peel(pygit2.Commit)
    found = bare.git.diff(one, other)
    found.find_similar()
    return found
