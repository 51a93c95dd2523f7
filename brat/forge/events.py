"""Webhook payloads, made from what changed.

https://docs.github.com/en/webhooks/webhook-events-and-payloads
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brat.forge.records import (
    CheckRun,
    Comment,
    Issue,
    Label,
    Pull,
    Repository,
    Review,
    Run,
    User,
)
from brat.forge.views.commits import simple_commit

if TYPE_CHECKING:
    from brat.forge.service import Service

NO_COMMIT = "0" * 40
MOST_COMMITS = 2048


@dataclass(frozen=True, slots=True)
class Move:
    """What happened to one ref; None: it was not there, or is no more."""

    ref: str
    before: str | None
    after: str | None


class Events:
    """Announces what changed to a repository's webhooks.

    Called inside `Store.change`, so that a change and its deliveries are kept together.
    """

    def __init__(self, service: "Service") -> None:
        """Announce through `service`."""
        self._service = service
        self._faces = service.faces

    def issue(
        self,
        repo: Repository,
        actor: User,
        action: str,
        issue: Issue,
        **more: Any,  # noqa: ANN401  JSON
    ) -> None:
        """An issue was opened, edited, closed or reopened; pulls are left out."""
        if not issue.pull:
            body = {"issue": self._faces.issue(repo, issue)} | more
            self._send(repo, actor, ("issues", action), body)

    def labelled(
        self, repo: Repository, actor: User, action: str, found: tuple[Issue, Label]
    ) -> None:
        """A label was put on or taken off."""
        issue, label = found
        face = self._faces.label(repo, label)
        if issue.pull:
            pull = self._service.forge.store.pulls.get(issue.id)
            if pull is not None:
                self.pull(repo, actor, action, pull, label=face)
        else:
            self.issue(repo, actor, action, issue, label=face)

    def comment(
        self,
        repo: Repository,
        actor: User,
        action: str,
        found: tuple[Issue, Comment],
        **more: Any,  # noqa: ANN401  JSON
    ) -> None:
        """A comment was created or edited."""
        issue, comment = found
        body = {
            "issue": self._faces.issue(repo, issue),
            "comment": self._faces.comment(repo, comment),
        }
        self._send(repo, actor, ("issue_comment", action), body | more)

    def pull(
        self,
        repo: Repository,
        actor: User,
        action: str,
        pull: Pull,
        **more: Any,  # noqa: ANN401  JSON
    ) -> None:
        """A pull request was opened, closed, reopened, edited, or its head moved."""
        body = {
            "number": pull.number,
            "pull_request": self._faces.pull(repo, pull)
            | {"merged": pull.merged_at is not None, "mergeable": None},
        }
        self._send(repo, actor, ("pull_request", action), body | more)

    def review(self, repo: Repository, actor: User, found: tuple[Pull, Review]) -> None:
        """A review was submitted; its state is written small here."""
        pull, review = found
        face = self._faces.review(repo, review, pull.number)
        body = {
            "pull_request": self._faces.pull(repo, pull),
            "review": face | {"state": review.state.lower()},
        }
        self._send(repo, actor, ("pull_request_review", "submitted"), body)

    def push(self, repo: Repository, actor: User, move: Move) -> None:
        """A branch or tag moved. Other refs are not told of, as on GitHub."""
        if not move.ref.startswith(("refs/heads/", "refs/tags/")):
            return
        bare = self._service.forge.bare(repo)
        before, after = move.before, move.after
        forced = bool(before and after and not bare.reaches(after, before))
        head = bare.commit(after) if after else None
        commits = []
        if head is not None and before and bare.commit(before):
            commits = bare.between(before, str(head.id))[-MOST_COMMITS:]
        body: dict[str, Any] = {
            "ref": move.ref,
            "before": before or NO_COMMIT,
            "after": after or NO_COMMIT,
            "created": before is None,
            "deleted": after is None,
            "forced": forced,
            "base_ref": None,
            "compare": self._service.site.page(repo.full_name, "compare", str(after)),
            "commits": [simple_commit(one) for one in commits],
            "head_commit": simple_commit(head) if head is not None else None,
            "pusher": {"name": actor.login, "email": f"{actor.login}@localhost"},
        }
        self._send(repo, actor, ("push", None), body)

    def check_run(
        self, repo: Repository, actor: User, action: str, check: CheckRun
    ) -> None:
        """A check run was created or completed."""
        body = {"check_run": self._faces.check_run(repo, check)}
        self._send(repo, actor, ("check_run", action), body)

    def run(self, repo: Repository, actor: User, action: str, run: Run) -> None:
        """A workflow run was requested, is in progress, or completed."""
        body = {"workflow_run": self._faces.run(repo, run)}
        self._send(repo, actor, ("workflow_run", action), body)

    def _send(
        self,
        repo: Repository,
        actor: User,
        kind: tuple[str, str | None],
        body: dict[str, Any],
    ) -> None:
        action = kind[1]
        common: dict[str, Any] = {
            "repository": self._faces.repository(repo),
            "sender": self._faces.user(actor),
        }
        if action is not None:
            common["action"] = action
        self._service.postman.post(repo, kind, body | common)
        self._service.triggers.consider(repo, actor, kind, body | common)
