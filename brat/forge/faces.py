"""How records look to callers, with everything that a view needs looked up.

Endpoints and webhooks show the same faces, as GitHub does.
"""

from typing import TYPE_CHECKING, Any

import pygit2
from msgspec import Raw

from brat.forge.ground import Ground
from brat.forge.merges import Merges
from brat.forge.records import (
    CheckRun,
    Comment,
    Issue,
    Label,
    Pull,
    Reaction,
    Repository,
    Review,
    Run,
    User,
)
from brat.forge.views import accounts, checks, issues, pulls, repositories, runs

if TYPE_CHECKING:
    from brat.forge.bare import Bare

GHOST = User(id=10137, login="ghost", kind="User", created_at=accounts.EPOCH)
"""Who did what an account did that is no more."""


class Faces:
    """Shows records of one forge."""

    def __init__(self, ground: Ground, merges: Merges) -> None:
        """Look things up in `ground`, and in `merges` what can be merged."""
        self._ground = ground
        self._merges = merges
        self._forge = ground.forge
        self._store = ground.forge.store

    def who(self, number: int | None) -> User:
        """Return an account by its id."""
        known = self._store.users.get(number) if number is not None else None
        return known or GHOST

    def user(self, who: User) -> dict[str, Any]:
        """An account."""
        return accounts.user(self._ground.site, who)

    def owner(self, repo: Repository) -> User:
        """Return the account that owns a repository."""
        return self._forge.user(repo.owner) or GHOST

    def repository(self, repo: Repository) -> Raw:
        """A repository, encoded."""
        return repositories.repository(self._ground.site, repo, self.owner(repo))

    def association(self, repo: Repository, who: User) -> str:
        """What an author is to a repository."""
        if who.login.lower() == repo.owner.lower():
            return "OWNER"
        return "COLLABORATOR" if self._forge.may(repo, who, "triage") else "NONE"

    # --- issues -------------------------------------------------------------------

    def labels(self, one: Issue) -> tuple[Label, ...]:
        """Return the labels of an issue."""
        known = (self._store.labels.get(number) for number in one.labels)
        return tuple(label for label in known if label is not None)

    def issue(self, repo: Repository, one: Issue) -> dict[str, Any]:
        """An issue."""
        facts = self._facts(repo, one)
        closer = self.who(one.closed_by) if one.closed_by is not None else None
        return issues.issue(self._ground.site, one, facts, self.labels(one), closer)

    def comment(self, repo: Repository, one: Comment) -> dict[str, Any]:
        """A comment."""
        return issues.comment(self._ground.site, one, self._facts(repo, one))

    def label(self, repo: Repository, one: Label) -> dict[str, Any]:
        """A label."""
        return issues.label(self._ground.site, repo, one)

    def reaction(self, one: Reaction) -> dict[str, Any]:
        """A reaction."""
        return issues.reaction(self._ground.site, one, self.who(one.user))

    def _facts(self, repo: Repository, one: Issue | Comment) -> issues.Facts:
        author = self.who(one.author)
        reactions = tuple(self._store.reactions.of(one.id))
        return issues.Facts(repo, author, self.association(repo, author), reactions)

    # --- pull requests ------------------------------------------------------------

    def pull(self, repo: Repository, one: Pull) -> dict[str, Any]:
        """A pull request as lists show it."""
        return pulls.pull(self._ground.site, one, self._pull_facts(repo, one))

    def full_pull(self, repo: Repository, one: Pull) -> dict[str, Any]:
        """A pull request with its size, and whether it can be merged."""
        facts = self._pull_facts(repo, one)
        size = self._size(repo, one, facts.issue)
        return pulls.full_pull(self._ground.site, one, facts, size)

    def review(self, repo: Repository, one: Review, number: int) -> dict[str, Any]:
        """A review."""
        author = self.who(one.user)
        facts = (repo, author, self.association(repo, author))
        return pulls.review(self._ground.site, one, number, facts)

    def _pull_facts(self, repo: Repository, one: Pull) -> pulls.Facts:
        issue = self._forge.issue_of(one)
        author = self.who(issue.author)
        return pulls.Facts(
            repo=repo,
            owner=self.owner(repo),
            issue=issue,
            author=author,
            association=self.association(repo, author),
            labels=self.labels(issue),
        )

    def _size(self, repo: Repository, one: Pull, issue: Issue) -> pulls.Size:
        bare = self._forge.bare(repo)
        fork = bare.fork_point(one.base_sha, one.head_sha)
        stats = diff(bare, fork, one.head_sha).stats if fork else None
        mergeable, state = self._merges.mergeable(repo, one, issue)
        return pulls.Size(
            mergeable=mergeable,
            state=state,
            merger=self.who(one.merged_by) if one.merged_by is not None else None,
            commits=len(bare.between(one.base_sha, one.head_sha)),
            additions=stats.insertions if stats else 0,
            deletions=stats.deletions if stats else 0,
            files=stats.files_changed if stats else 0,
        )

    # --- checks and runs ----------------------------------------------------------

    def check_run(self, repo: Repository, one: CheckRun) -> dict[str, Any]:
        """A check run."""
        judged = [
            pull
            for pull in self._store.pulls.of(repo.id)
            if pull.head_sha == one.head_sha
            and self._forge.issue_of(pull).state == "open"
        ]
        return checks.check_run(self._ground.site, repo, one, judged)

    def run(self, repo: Repository, one: Run) -> dict[str, Any]:
        """A workflow run."""
        head = self._forge.bare(repo).commit(one.head_sha)
        found = (repo, self.repository(repo))
        return runs.run(self._ground.site, one, found, self.who(one.actor), head)


def diff(bare: "Bare", base: str, head: str) -> pygit2.Diff:
    """Return what leads from one commit to another, renames found."""
    one, other = bare.git[base].peel(pygit2.Commit), bare.git[head].peel(pygit2.Commit)
    found = bare.git.diff(one, other)
    found.find_similar()
    return found
