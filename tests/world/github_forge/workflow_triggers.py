"""The workflow files of a repository, where another program runs whole files.

They are run by dispatch, and brat.yml also on people's actions. As on GitHub, a job's
own token starts runs only by dispatch.
https://docs.github.com/actions/concepts/security/github_token
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from msgspec import json
from msgspec.structs import replace

from brat.forge.resources.account_resource import (
    ACTIONS_APP,
    Access,
    Permissions,
    Repository,
    User,
)
from brat.forge.resources.run_resource import TASK_WORKFLOW, CheckRun, Run
from brat.forge.resources.wire import Refused, iso
from brat.forge.service.run_processes import (
    JOB_LOGIN,
    LIVE_WORKFLOW,
    TASK_INPUTS,
    named_inputs,
)
from brat.forge.service.webhook_deliveries import Kind
from tests.world.github_forge.artifact_uploads import Uploads

LOOP_WORKFLOW: Final = ".github/workflows/brat.yml"
OWN_WORKFLOWS: Final = frozenset({TASK_WORKFLOW, LIVE_WORKFLOW, LOOP_WORKFLOW})
MOST_INPUT_CHARS: Final = 65535
TOKEN_LASTS: Final = timedelta(hours=6)
"""As long as a job may take."""
_KNOWN: Final = {
    TASK_WORKFLOW: TASK_INPUTS,
    LIVE_WORKFLOW: TASK_INPUTS,
    LOOP_WORKFLOW: (*TASK_INPUTS, "after"),
}
_LOOP_MAY: Final[Permissions] = (
    *(
        (name, "write")
        for name in ("actions", "checks", "contents", "issues", "pull_requests")
    ),
    ("statuses", "read"),
)
_TASK_MAY: Final[Permissions] = (("actions", "write"), ("contents", "read"))
"""The permissions of a task run's two jobs together: they share one token."""
_STARTS: Final = frozenset(
    {
        *(("issues", action) for action in ("labeled", "opened")),
        *(("issue_comment", action) for action in ("created", "edited")),
        ("pull_request_review", "submitted"),
    }
)


def permissions_of(run: Run) -> Permissions | None:
    """Return the permissions of a run's token; None: it may only read."""
    if run.path != LOOP_WORKFLOW:
        return None
    return _TASK_MAY if run.inputs.get("session") else _LOOP_MAY


def some_inputs(path: str, asked: Mapping[str, Any]) -> dict[str, str]:
    """Return the inputs that a workflow takes, as text; 422 if they are others."""
    needed = TASK_INPUTS if path in {TASK_WORKFLOW, LIVE_WORKFLOW} else ()
    inputs = named_inputs(asked, _KNOWN.get(path, ()), needed)
    if sum(map(len, inputs.values())) > MOST_INPUT_CHARS:
        raise Refused(422, f"inputs are too large (maximum {MOST_INPUT_CHARS})")
    return inputs


class SessionFiles(Uploads):
    """The files of sessions, whose inputs are limited as on GitHub."""

    def inputs_of(self, path: str, asked: Mapping[str, Any]) -> dict[str, str]:
        """Return the inputs of a dispatch as text; 422 if they are others."""
        return some_inputs(path, asked)


class EveryFile(SessionFiles):
    """Any workflow file that a repository holds."""

    def can_run(self, repo: Repository, path: str) -> bool:
        """Say whether a workflow file is there."""
        return path == TASK_WORKFLOW or self.holds(repo, path)

    def hear(
        self, repo: Repository, actor: User, kind: Kind, payload: dict[str, Any]
    ) -> None:
        """Start brat.yml if an event triggers it; only inside `Store.change`."""
        if kind not in _STARTS or actor.login == JOB_LOGIN:
            return
        if self.can_run(repo, LOOP_WORKFLOW):
            self._service.starter.begin(
                repo,
                actor,
                path=LOOP_WORKFLOW,
                branch=repo.default_branch,
                event=kind[0],
                payload=json.encode(payload).decode(),
            )

    def token(self, repo: Repository, holder: User, run: Run) -> str:
        """Make the token of a run, which may do what the file's permissions say."""
        allowed, forge = permissions_of(run), self.forge
        if allowed is None:
            return super().token(repo, holder, run)
        if not forge.may(repo, holder, "write"):
            forge.grant(repo.full_name, holder.login, "write")
        access = Access(
            repos=(repo.id,),
            permissions=allowed,
            expires_at=iso(forge.clock() + TOKEN_LASTS),
        )
        return forge.keys.add(holder, repo=repo.id, access=access)

    def opened(self, repo: Repository, actor: User, run: Run) -> None:
        """Show that a run was accepted; only inside `Store.change`."""
        if run.path in OWN_WORKFLOWS:
            return
        events, store = self._service.events, self._service.forge.store
        check = store.check_runs.put(
            CheckRun(
                id=store.next_id(),
                repo=repo.id,
                head_sha=run.head_sha,
                name=run.path.rpartition("/")[2].rpartition(".")[0],
                app=ACTIONS_APP,
                external_id=str(run.id),
                started_at=run.created_at,
            )
        )
        events.check_run(repo, actor, "created", check)

    def closed(self, repo: Repository, actor: User, run: Run) -> None:
        """Show how a run ended; only inside `Store.change`."""
        events, store = self._service.events, self._service.forge.store
        for check in store.check_runs.of((repo.id, run.head_sha)):
            if check.external_id == str(run.id) and check.app == ACTIONS_APP:
                ended = store.check_runs.put(
                    replace(
                        check,
                        status="completed",
                        conclusion=run.conclusion,
                        completed_at=run.updated_at,
                    )
                )
                events.check_run(repo, actor, "completed", ended)
