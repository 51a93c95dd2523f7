"""Webhook payloads, made from what changed.

https://docs.github.com/en/webhooks/webhook-events-and-payloads
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from brat.forge.resources import check_resource, commit_resource, run_resource
from brat.forge.resources.account_resource import User
from brat.forge.resources.check_resource import CheckRun, CommitStatus
from brat.forge.resources.issue_resource import Comment, Issue, Label
from brat.forge.resources.pull_resource import Pull
from brat.forge.resources.repository_resource import Repository
from brat.forge.resources.run_resource import Run
from brat.forge.service import push_payloads
from brat.forge.service.forge_context import ForgeContext
from brat.forge.service.renderer import Renderer
from brat.forge.storage.git_storage import Move
from brat.forge.storage.record_store import Store

Kind = tuple[str, str | None]
"""An event and its action."""
Hear = Callable[[Repository, User, Kind, dict[str, Any]], None]
MOST_BRANCHES = 10
"""How many branches a status is told with."""
_STEPS = {"requested": "queued"}
"""What happens to a job where something else is said of its run."""


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
            self.send(repo, actor, ("issues", action), body)

    def labelled(
        self, repo: Repository, actor: User, action: str, found: tuple[Issue, Label]
    ) -> None:
        """A label was put on or taken off."""
        issue, label = found
        face = self.renderer.label(repo, label)
        self.either(repo, actor, action, issue, label=face)

    def either(
        self,
        repo: Repository,
        actor: User,
        action: str,
        issue: Issue,
        **more: Any,  # noqa: ANN401  JSON
    ) -> None:
        """What issues and pull requests have in common was changed."""
        pull = self.store.pulls.get(issue.id)
        if pull is not None:
            self.pull(repo, actor, action, pull, **more)
        else:
            self.issue(repo, actor, action, issue, **more)

    def comment(
        self,
        repo: Repository,
        actor: User,
        action: str,
        found: tuple[Issue, Comment],
        **more: Any,  # noqa: ANN401  JSON
    ) -> None:
        """A comment was created, edited or deleted."""
        issue, comment = found
        body = {
            "issue": self.renderer.issue(repo, issue),
            "comment": self.renderer.comment(repo, comment),
        }
        self.send(repo, actor, ("issue_comment", action), body | more)

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
            "pull_request": self.renderer.announced_pull(repo, pull),
        }
        self.send(repo, actor, ("pull_request", action), body | more)

    def push(self, repo: Repository, actor: User, move: Move) -> None:
        """A branch or tag moved, came or went; other refs are not told of."""
        if not push_payloads.told(move.ref):
            return
        found = (repo, self._forge.bare(repo))
        body = push_payloads.push(self._context.site, found, actor, move)
        self.send(repo, actor, ("push", None), body)
        also = push_payloads.coming_or_going(repo, move)
        if also is not None:
            event, body = also
            self.send(repo, actor, (event, None), body)

    def status(self, repo: Repository, actor: User, status: CommitStatus) -> None:
        """A commit was given a status."""
        bare, site = self._forge.bare(repo), self._context.site
        commit = bare.commit(status.sha)
        if commit is None:
            return
        face = check_resource.status(site, repo, status, actor)
        kept = ("id", "state", "context", "description", "target_url", "avatar_url")
        body = {key: face[key] for key in (*kept, "created_at", "updated_at")} | {
            "sha": status.sha,
            "name": repo.full_name,
            "commit": commit_resource.commit(site, repo, commit),
            "branches": list(islice(self._holding(repo, status.sha), MOST_BRANCHES)),
        }
        self.send(repo, actor, ("status", None), body)

    def _holding(self, repo: Repository, sha: str) -> Iterator[dict[str, Any]]:
        """Yield the branches that hold a commit."""
        bare = self._forge.bare(repo)
        where = f"{self._context.site.repo(repo.full_name)}/commits/"
        for ref, tip in bare.refs("refs/heads/").items():
            if bare.reaches(tip, sha):
                name = ref.removeprefix("refs/heads/")
                yield {
                    "name": name,
                    "commit": {"sha": tip, "url": where + tip},
                    "protected": False,
                }

    def check_run(
        self,
        repo: Repository,
        actor: User,
        action: str,
        check: CheckRun,
        pressed: str = "",
    ) -> None:
        """A check run was created or completed, or somebody pressed its button."""
        body: dict[str, Any] = {"check_run": self.renderer.check_run(repo, check)}
        if pressed:
            body["requested_action"] = {"identifier": pressed}
        self.send(repo, actor, ("check_run", action), body)

    def run(self, repo: Repository, actor: User, action: str, run: Run) -> None:
        """A workflow run was requested, is in progress, or completed; so is its job."""
        body = {
            "workflow_run": self.renderer.run(repo, run),
            "workflow": run_resource.workflow(self._context.site, repo, run.path),
        }
        self.send(repo, actor, ("workflow_run", action), body)
        job = run_resource.job(self._context.site, repo, run, None)
        step = _STEPS.get(action, action)
        self.send(repo, actor, ("workflow_job", step), {"workflow_job": job})

    def send(
        self,
        repo: Repository,
        actor: User,
        kind: Kind,
        body: dict[str, Any],
    ) -> None:
        """Something happened: tell it as `body`, with what every payload has."""
        action = kind[1]
        common: dict[str, Any] = {
            "repository": self.renderer.repository(repo),
            "sender": self.renderer.user(actor),
        }
        if action is not None:
            common["action"] = action
        for hear in self.heard_by:
            hear(repo, actor, kind, body | common)
