"""Webhook payloads, made from what changed.

https://docs.github.com/en/webhooks/webhook-events-and-payloads
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from brat.forge.resources.account_resource import User
from brat.forge.resources.check_resource import CheckRun
from brat.forge.resources.commit_resource import simple_commit
from brat.forge.resources.issue_resource import Comment, Issue, Label
from brat.forge.resources.pull_resource import Pull, Review
from brat.forge.resources.repository_resource import Repository
from brat.forge.resources.run_resource import Run
from brat.forge.service.forge_context import ForgeContext
from brat.forge.service.renderer import Renderer
from brat.forge.storage.record_store import Store

Kind = tuple[str, str | None]
"""An event and its action."""
Hear = Callable[[Repository, User, Kind, dict[str, Any]], None]
NO_COMMIT = "0" * 40
MOST_COMMITS = 2048


@dataclass(frozen=True, slots=True)
class Move:
    """The move of one ref; None: the ref did not exist before, or is deleted."""

    ref: str
    before: str | None
    after: str | None


class Events:
    """Announces what changed to a repository's webhooks.

    Called inside `Store.change`, so that a change and its deliveries are kept together.
    """

    def __init__(self, context: ForgeContext, renderer: Renderer) -> None:
        """Announce what happens to the forge, as `renderer` shows it."""
        self._context = context
        self._forge = context.forge
        self.renderer = renderer
        self.heard_by: list[Hear] = []
        """Each is called in turn, inside the same `Store.change`."""

    @property
    def store(self) -> Store:
        """The forge's records."""
        return self._forge.store

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
            body = {"issue": self.renderer.issue(repo, issue)} | more
            self._send(repo, actor, ("issues", action), body)

    def labelled(
        self, repo: Repository, actor: User, action: str, found: tuple[Issue, Label]
    ) -> None:
        """A label was put on or taken off."""
        issue, label = found
        face = self.renderer.label(repo, label)
        if issue.pull:
            pull = self.store.pulls.get(issue.id)
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
            "issue": self.renderer.issue(repo, issue),
            "comment": self.renderer.comment(repo, comment),
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
            "pull_request": self.renderer.pull(repo, pull)
            | {"merged": pull.merged_at is not None, "mergeable": None},
        }
        self._send(repo, actor, ("pull_request", action), body | more)

    def review(self, repo: Repository, actor: User, found: tuple[Pull, Review]) -> None:
        """A review was submitted; its state is written small here."""
        pull, review = found
        face = self.renderer.review(repo, review, pull.number)
        body = {
            "pull_request": self.renderer.pull(repo, pull),
            "review": face | {"state": review.state.lower()},
        }
        self._send(repo, actor, ("pull_request_review", "submitted"), body)

    def push(self, repo: Repository, actor: User, move: Move) -> None:
        """A branch or tag moved. Other refs are not told of, as on GitHub."""
        if not move.ref.startswith(("refs/heads/", "refs/tags/")):
            return
        bare = self._forge.bare(repo)
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
            "compare": self._context.site.page(repo.full_name, "compare", str(after)),
            "commits": [simple_commit(one) for one in commits],
            "head_commit": simple_commit(head) if head is not None else None,
            "pusher": {"name": actor.login, "email": f"{actor.login}@localhost"},
        }
        self._send(repo, actor, ("push", None), body)

    def check_run(
        self, repo: Repository, actor: User, action: str, check: CheckRun
    ) -> None:
        """A check run was created or completed."""
        body = {"check_run": self.renderer.check_run(repo, check)}
        self._send(repo, actor, ("check_run", action), body)

    def run(self, repo: Repository, actor: User, action: str, run: Run) -> None:
        """A workflow run was requested, is in progress, or completed."""
        body = {"workflow_run": self.renderer.run(repo, run)}
        self._send(repo, actor, ("workflow_run", action), body)

    def _send(
        self,
        repo: Repository,
        actor: User,
        kind: Kind,
        body: dict[str, Any],
    ) -> None:
        action = kind[1]
        common: dict[str, Any] = {
            "repository": self.renderer.repository(repo),
            "sender": self.renderer.user(actor),
        }
        if action is not None:
            common["action"] = action
        for hear in self.heard_by:
            hear(repo, actor, kind, body | common)
