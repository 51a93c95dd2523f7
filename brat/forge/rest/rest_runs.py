"""REST: workflows, dispatches and workflow runs.

https://docs.github.com/en/rest/actions/workflows#create-a-workflow-dispatch-event
"""

import asyncio
from functools import partial
from typing import Any, Final

import pygit2
from msgspec import field

from brat.forge.resources.forge_records import (
    ACTIONS_APP,
    EPOCH,
    TASK_WORKFLOW,
    CheckRun,
    Run,
    workflow_id,
)
from brat.forge.resources.wire import Refused, not_found
from brat.forge.rest.rest_call import Answer, Body, Call, Route, found, shows

_FOLDER = ".github/workflows"


class Dispatch(Body):
    ref: str
    inputs: dict[str, Any] = field(default_factory=dict)
    return_run_details: bool = False


def workflow_paths(call: Call) -> list[str]:
    top = call.bare.commit(call.bare.tip(call.repo.default_branch) or "")
    folder = top.tree[_FOLDER] if top and _FOLDER in top.tree else None
    entries = folder if isinstance(folder, pygit2.Tree) else ()
    names = (f"{_FOLDER}/{one.name}" for one in entries)
    return sorted({TASK_WORKFLOW, *(n for n in names if n.endswith((".yml", ".yaml")))})


def workflow_of(call: Call) -> str:
    """Return the file of the workflow that the path names by id or file name."""
    asked = call.word("workflow")
    for path in workflow_paths(call):
        if asked in {str(workflow_id(path)), path.rpartition("/")[2]}:
            return path
    raise not_found()


async def dispatch(call: Call) -> Answer:
    """`POST dispatches`: starts a run of brat-task.yml, or of another runnable file."""
    path, asked = workflow_of(call), call.body(Dispatch)
    branch = asked.ref.removeprefix("refs/heads/")
    if call.bare.tip(branch) is None:
        raise Refused(422, f"No ref found for: {asked.ref}")
    files = call.service.starter.files
    if not files.can_run(call.repo, path):
        said = f"Workflow does not have 'workflow_dispatch' trigger: {path}"
        raise Refused(422, said + " (this forge runs only brat-task.yml)")
    inputs = files.inputs_of(path, asked.inputs)
    run = call.service.starter.begin(
        call.repo, call.user, path=path, branch=branch, inputs=inputs
    )
    if not asked.return_run_details:
        return Answer(status=204)
    face = call.renderer.run(call.repo, run)
    return Answer(
        {
            "workflow_run_id": run.id,
            "run_url": face["url"],
            "html_url": face["html_url"],
        }
    )


async def list_runs(call: Call) -> Answer:
    """`GET actions/runs` and `GET actions/workflows/{id}/runs`: newest first.

    No run names a pull request, so that `exclude_pull_requests` leaves none out.
    """
    path = workflow_of(call) if "workflow" in call.request.match_info else None
    event, sha = call.asked("event"), call.asked("head_sha")
    checks = call.store.check_runs
    known = checks.of((call.repo.id, sha)) if sha else checks.all()
    own = (one for one in known if one.job and one.repo == call.repo.id)
    by_ci = (_run_of_ci(call, one) for one in own)
    chosen = [
        run
        for run in (*call.store.runs.of(call.repo.id), *by_ci)
        if path in {None, run.path}
        and event in {"", run.event}
        and sha in {"", run.head_sha}
    ]
    chosen.sort(key=lambda run: run.id, reverse=True)
    return call.page(
        chosen, lambda run: call.renderer.run(call.repo, run), wrap="workflow_runs"
    )


def _run(call: Call) -> Run:
    check = call.store.check_runs.get(call.number("run"))
    if check is not None and check.job and check.repo == call.repo.id:
        return _run_of_ci(call, check)
    return call.own(call.store.runs, "run")


async def cancel(call: Call, *, force: bool = False) -> Answer:
    """`POST cancel`: SIGINT, then SIGTERM, then the end of the whole tree.

    By `POST force-cancel` it ends now (`force`).
    """
    run = _run(call)
    if run.status == "completed":
        raise Refused(409, "Cannot cancel a workflow run that is completed.")
    if run.path == PATH:
        raise Refused(409, "This run ends when no tested branch points to its commit.")
    call.service.starter.cancel(run, force=force)
    return Answer({}, 202)


async def list_jobs(call: Call) -> Answer:
    """`GET actions/runs/{id}/jobs`: a run has one job."""
    run = _run(call)
    known = (
        each
        for each in call.store.check_runs.of((run.repo, run.head_sha))
        if each.id == run.id or each.external_id == str(run.id)
    )
    its_check = next((each for each in known if each.app == ACTIONS_APP), None)
    jobs = [call.renderer.job(call.repo, run, its_check)]
    return call.page(jobs, lambda job: job, wrap="jobs")


PATH: Final = "dynamic/ci"


def _run_of_ci(call: Call, check: CheckRun) -> Run:
    since = check.started_at or EPOCH
    return Run(
        id=check.id,
        repo=check.repo,
        number=1,
        path=PATH,
        title=check.name,
        branch=check.job.ref if check.job else "",
        head_sha=check.head_sha,
        actor=call.renderer.owner(call.repo).id,
        inputs={},
        created_at=since,
        updated_at=check.completed_at or since,
        event="push",
        status=check.status,
        conclusion=check.conclusion,
        started_at=check.started_at,
    )


async def list_artifacts(call: Call) -> Answer:
    """`GET actions/runs/{id}/artifacts`: newest first."""
    run = call.own(call.store.runs, "run")
    return call.page(
        call.store.artifacts.of(run.id)[::-1],
        lambda one: call.renderer.artifact(call.repo, one, run),
        wrap="artifacts",
    )


async def download(call: Call) -> Answer:
    """`GET actions/artifacts/{id}/zip`: the zip itself; GitHub has it elsewhere."""
    artifact = call.own(call.store.artifacts, "artifact")
    run = found(call.store.runs.get(artifact.run))
    path = call.service.starter.place(run).artifact(artifact.name)
    return Answer(await asyncio.to_thread(path.read_bytes))


_ACTIONS = "/repos/{owner}/{repo}/actions"
_WORKFLOW = _ACTIONS + "/workflows/{workflow}"
_RUN = _ACTIONS + r"/runs/{run:\d+}"
ROUTES = (
    Route("POST", _WORKFLOW + "/dispatches", dispatch, "write"),
    Route("GET", _WORKFLOW + "/runs", list_runs),
    Route("GET", _ACTIONS + "/runs", list_runs),
    Route("GET", _RUN, shows(lambda call: call.renderer.run(call.repo, _run(call)))),
    Route("GET", _RUN + "/jobs", list_jobs),
    Route("POST", _RUN + "/cancel", cancel, "write"),
    Route("POST", _RUN + "/force-cancel", partial(cancel, force=True), "write"),
    Route("GET", _RUN + "/artifacts", list_artifacts),
    Route("GET", _ACTIONS + r"/artifacts/{artifact:\d+}/zip", download),
)
