"""Which events start a workflow file here, and which files can be run.

As on GitHub nothing that a job's own token does starts a run, but a dispatch.
https://docs.github.com/actions/concepts/security/github_token
"""

from typing import Any, Final

from msgspec import json

from brat.forge.records import Repository, User
from brat.forge.runs import Starter
from brat.forge.state import Forge
from brat.forge.views.runs import TASK_WORKFLOW
from brat.forge.workflows import JOB_LOGIN, LIVE_WORKFLOW, LOOP_WORKFLOW

_STARTS: Final = frozenset(
    {
        *(("issues", action) for action in ("labeled", "opened")),
        *(("issue_comment", action) for action in ("created", "edited")),
        ("pull_request_review", "submitted"),
    }
)


class Triggers:
    """Starts workflow files: brat.yml also for what happens to a repository."""

    def __init__(self, forge: Forge, starter: Starter) -> None:
        """Start runs in `forge` by `starter`."""
        self._forge = forge
        self._starter = starter

    def consider(
        self,
        repo: Repository,
        actor: User,
        kind: tuple[str, str | None],
        payload: dict[str, Any],
    ) -> None:
        """Start a run if the event does so; only inside `Store.change`."""
        if kind not in _STARTS or actor.login == JOB_LOGIN:
            return
        if not self.can_run(repo, LOOP_WORKFLOW):
            return
        self._starter.begin(
            repo,
            actor,
            path=LOOP_WORKFLOW,
            branch=repo.default_branch,
            event=kind[0],
            payload=json.encode(payload).decode(),
        )

    def can_run(self, repo: Repository, path: str) -> bool:
        """Say whether a workflow file is there and can be run."""
        if path == TASK_WORKFLOW:
            return True
        bare = self._forge.bare(repo)
        tip = bare.tip(repo.default_branch)
        runs_files = self._starter.executes_files or path == LIVE_WORKFLOW
        return runs_files and tip is not None and bare.file(tip, path) is not None
