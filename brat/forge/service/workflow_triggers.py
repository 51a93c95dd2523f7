"""The events that start a workflow file, and the files that can be run.

As on GitHub, a job's own token starts runs only by dispatch.
https://docs.github.com/actions/concepts/security/github_token
"""

from typing import Any, Final

from msgspec import json

from brat.forge.resources.account_resource import User
from brat.forge.resources.repository_resource import Repository
from brat.forge.resources.run_resource import TASK_WORKFLOW
from brat.forge.service.run_processes import Starter
from brat.forge.service.workflow_catalog import JOB_LOGIN, LIVE_WORKFLOW, LOOP_WORKFLOW
from brat.forge.storage.forge_state import Forge

_STARTS: Final = frozenset(
    {
        *(("issues", action) for action in ("labeled", "opened")),
        *(("issue_comment", action) for action in ("created", "edited")),
        ("pull_request_review", "submitted"),
    }
)


class Triggers:
    """Starts workflow files; brat.yml also on a repository's events."""

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
        """Start a run if the event triggers one; only inside `Store.change`."""
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
