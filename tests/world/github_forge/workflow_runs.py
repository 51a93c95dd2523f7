"""What starts workflows, what their runs upload, and what people do with them.

They are run by dispatch, and brat.yml also on people's actions. As on GitHub, a job's
own token starts runs only by dispatch.

https://docs.github.com/actions/concepts/security/github_token
https://docs.github.com/rest/actions/workflow-runs
"""

import hmac
import os
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from aiohttp import web
from msgspec import json

from brat.forge.resources.forge_records import (
    ACTIONS_APP,
    TASK_WORKFLOW,
    Access,
    CheckRun,
    Permissions,
    Repository,
    Run,
    User,
    workflow_id,
)
from brat.forge.resources.wire import Refused, iso
from brat.forge.rest.rest_call import Answer, Call, Route, secret_of
from brat.forge.rest.rest_repositories import (
    workflow_of,
    workflow_paths,
)
from brat.forge.service.announcements import Kind
from brat.forge.service.run_processes import (
    JOB_LOGIN,
    TASK_INPUTS,
    WorkflowFiles,
    measure,
    named_inputs,
)
from brat.forge.service.running_forge import Service

_KEY: Final = os.urandom(32)
"""Of the tokens for uploads."""


class SessionFiles(WorkflowFiles):
    """The files of sessions, whose inputs are limited as on GitHub.

    The program that starts runs can hand artifacts over.
    """

    def __init__(self, service: Service) -> None:
        super().__init__(service.forge)
        self._service = service

    def routes(self) -> list[web.RouteDef]:
        """Return the routes, below the forge's own address."""
        return [web.put(r"/_artifacts/{run:\d+}/{name}", self.put)]

    def can_run(self, repo: Repository, path: str) -> bool:
        own = path in {TASK_WORKFLOW, LIVE_WORKFLOW}
        return path == TASK_WORKFLOW or (own and self.holds(repo, path))

    def holds(self, repo: Repository, path: str) -> bool:
        bare = self.forge.bare(repo)
        tip = bare.tip(repo.default_branch)
        return tip is not None and bare.file(tip, path) is not None

    def title_of(self, path: str, inputs: Mapping[str, str]) -> str:
        if inputs.get("session"):
            return super().title_of(path, inputs)
        is_ci = bool(inputs.get("ci"))
        return "brat ci" if is_ci else path.rpartition("/")[2].rpartition(".")[0]

    def handover(self, run: Run) -> dict[str, str]:
        """Return the run's folder, the address and the run's own token for it."""
        return {
            "BRAT_RUN_DIR": str(self._service.starter.place(run).folder),
            "ACTIONS_RUNTIME_TOKEN": self._secret(run),
            "ACTIONS_RESULTS_URL": self._service.site.base + "/",
        }

    def inputs_of(self, path: str, asked: Mapping[str, Any]) -> dict[str, str]:
        """Return the inputs of a dispatch as text; 422 if they are others."""
        needed = TASK_INPUTS if path in {TASK_WORKFLOW, LIVE_WORKFLOW} else ()
        inputs = named_inputs(asked, _KNOWN.get(path, ()), needed)
        if sum(map(len, inputs.values())) > MOST_INPUT_CHARS:
            raise Refused(422, f"inputs are too large (maximum {MOST_INPUT_CHARS})")
        return inputs

    def _secret(self, run: Run) -> str:
        return hmac.digest(_KEY, str(run.id).encode(), "sha256").hex()

    async def put(self, request: web.Request) -> web.Response:
        """Take a zip from another starter, which shows the run's own token."""
        store = self._service.forge.store
        run = store.runs.get(int(request.match_info["run"]))
        shown = secret_of(request) or ""
        if run is None or not hmac.compare_digest(self._secret(run), shown):
            raise web.HTTPUnauthorized(text="This is not the token of the run.\n")
        name = request.match_info["name"]
        target = self._service.starter.place(run).artifact(name)
        with target.open("wb") as file:
            async for chunk in request.content.iter_any():
                file.write(chunk)
        self._service.starter.add_artifact(run, name, measure(target))
        return web.Response(status=201)


LIVE_WORKFLOW: Final = ".github/workflows/brat-task-live.yml"
LOOP_WORKFLOW: Final = ".github/workflows/brat.yml"
OWN_WORKFLOWS: Final = frozenset({TASK_WORKFLOW, LIVE_WORKFLOW, LOOP_WORKFLOW})
MOST_INPUT_CHARS: Final = 65535
TOKEN_LASTS: Final = timedelta(hours=6)
"""As long as a job may take."""
_KNOWN: Final = {
    TASK_WORKFLOW: TASK_INPUTS,
    LIVE_WORKFLOW: TASK_INPUTS,
    LOOP_WORKFLOW: (*TASK_INPUTS, "after", "ci"),
}
_LOOP_MAY: Final[Permissions] = tuple(
    (name, "write")
    for name in ["actions", "checks", "contents", "issues", "pull_requests", "statuses"]
)
_TASK_MAY: Final[Permissions] = (("actions", "write"), ("contents", "read"))
"""The permissions of the two jobs of a task's or CI's run: they share one token."""
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
    is_work = run.inputs.get("session") or run.inputs.get("ci")
    return _TASK_MAY if is_work else _LOOP_MAY


class EveryFile(SessionFiles):
    """Any workflow file that a repository holds."""

    def can_run(self, repo: Repository, path: str) -> bool:
        return path == TASK_WORKFLOW or self.holds(repo, path)

    def hear(
        self, repo: Repository, actor: User, kind: Kind, payload: dict[str, Any]
    ) -> None:
        """Start brat.yml if an event triggers it; only inside `Store.change`.

        A run is shown as a check of its commit.
        """
        show = {"requested": self._opened, "completed": self._closed}.get(kind[1] or "")
        if show is not None and kind[0] == "workflow_run":
            run = self.forge.store.runs.get(payload["workflow_run"]["id"])
            assert run is not None
            show(repo, actor, run)
        is_new = kind[0] == "push" and self._is_news(repo, payload)
        if not (is_new or kind in _STARTS) or actor.login == JOB_LOGIN:
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

    def _is_news(self, repo: Repository, push: dict[str, Any]) -> bool:
        """Whether a push to the default branch brings another brat.yml."""
        bare = self.forge.bare(repo)
        old, new = (
            bare.file(push[each], LOOP_WORKFLOW) for each in ("before", "after")
        )
        is_default = push["ref"] == f"refs/heads/{repo.default_branch}"
        return is_default and new is not None and new != old

    def token(self, repo: Repository, holder: User, run: Run) -> str:
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
        return forge.add_token(holder.login, repo=repo.id, access=access)

    def _opened(self, repo: Repository, actor: User, run: Run) -> None:
        if run.path in OWN_WORKFLOWS and not run.inputs.get("ci"):
            return
        events, store = self._service.events, self._service.forge.store
        check = store.check_runs.add(
            CheckRun(
                repo=repo.id,
                head_sha=run.head_sha,
                name=run.path.rpartition("/")[2].rpartition(".")[0],
                app=ACTIONS_APP,
                external_id=str(run.id),
                started_at=run.created_at,
            )
        )
        events.tell(repo, actor, "created", check)

    def _closed(self, repo: Repository, actor: User, run: Run) -> None:
        events, store = self._service.events, self._service.forge.store
        for check in store.check_runs.of((repo.id, run.head_sha)):
            if check.external_id == str(run.id) and check.app == ACTIONS_APP:
                ended = store.check_runs.change(
                    check,
                    status="completed",
                    conclusion=run.conclusion,
                    completed_at=run.updated_at,
                )
                events.tell(repo, actor, "completed", ended)


def _workflow(path: str) -> dict[str, Any]:
    return {"id": workflow_id(path), "path": path, "state": "active"}


async def list_workflows(call: Call) -> Answer:
    return call.page(workflow_paths(call), _workflow, wrap="workflows")


async def get_workflow(call: Call) -> Answer:
    return Answer(_workflow(workflow_of(call)))


_ACTIONS = "/repos/{owner}/{repo}/actions"
_WORKFLOW = _ACTIONS + "/workflows/{workflow}"
ROUTES = (
    Route("GET", _ACTIONS + "/workflows", list_workflows),
    Route("GET", _WORKFLOW, get_workflow),
)
