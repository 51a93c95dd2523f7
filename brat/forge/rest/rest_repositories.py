"""REST: who I am; a repository, its rights, branches and webhooks; checks, CI and runs.

https://docs.github.com/en/rest/checks/runs
https://docs.github.com/en/rest/actions/workflows#create-a-workflow-dispatch-event
"""

import asyncio
from functools import partial
from typing import Any, Final

import pygit2
from msgspec import field
from msgspec.structs import replace

from brat.forge.resources.forge_records import (
    ACTIONS_APP,
    EPOCH,
    TASK_WORKFLOW,
    CheckRun,
    Ci,
    Conclusion,
    Output,
    Progress,
    Run,
    workflow_id,
)
from brat.forge.resources.wire import BY_NAME, Refused, fault, not_found
from brat.forge.rest.rest_call import (
    Answer,
    Body,
    Call,
    Route,
    empty,
    found,
    made,
    shows,
)


async def get_permission(call: Call) -> Answer:
    who = found(call.service.forge.user(call.word("username")))
    role = call.service.forge.role(call.repo, who)
    older = {"triage": "read", "maintain": "write"}.get(role, role)
    return Answer({"permission": older, "role_name": role})


async def get_branch(call: Call) -> Answer:
    name = call.word("branch")
    tip = call.bare.tip(name)
    if tip is None:
        raise Refused(404, "Branch not found")
    return Answer({"name": name, "commit": {"sha": tip}, "protected": False})


class HookConfig(Body):
    url: str


async def change_config(call: Call) -> Answer:
    hook, config = call.own(call.store.hooks, "hook"), call.body(HookConfig)
    call.store.hooks.change(hook, url=config.url)
    return Answer(config)


class CheckOutput(Output, frozen=True, kw_only=True, forbid_unknown_fields=True):
    annotations: tuple[dict[str, Any], ...] = ()


class CheckChange(Body):
    """The body of `PATCH check-runs/{id}`; what is left out stays."""

    status: Progress | None = None
    conclusion: Conclusion | None = None
    details_url: str | None = None
    external_id: str | None = None
    output: CheckOutput | None = None
    actions: tuple[dict[str, str], ...] | None = None


class NewCheck(CheckChange):
    name: str = ""
    head_sha: str = ""


def _app(call: Call) -> str:
    """Return the slug of the app that calls: only apps write check runs."""
    if call.user.kind != "Bot":
        raise Refused(403, "You must authenticate via a GitHub App.")
    return call.user.login.removesuffix("[bot]")


def _changed(call: Call, check: CheckRun, asked: CheckChange) -> CheckRun:
    now = call.service.forge.now()
    status: Progress = "completed" if asked.conclusion else asked.status or check.status
    conclusion = asked.conclusion or check.conclusion
    if status == "completed" and conclusion is None:
        raise fault("CheckRun", "conclusion", "missing_field")
    output, annotations = check.output, check.annotations
    if asked.output is not None:
        new = asked.output
        output = Output(title=new.title, summary=new.summary, text=new.text)
        annotations += len(new.annotations)
    return replace(
        check,
        status=status,
        conclusion=conclusion if status == "completed" else None,
        details_url=asked.details_url or check.details_url,
        external_id=asked.external_id or check.external_id,
        started_at=check.started_at or now,
        completed_at=(check.completed_at or now) if status == "completed" else None,
        output=output,
        annotations=annotations,
        actions=check.actions if asked.actions is None else asked.actions,
    )


async def create_check(call: Call) -> Answer:
    asked, app = call.body(NewCheck), _app(call)
    if not asked.name:
        raise fault("CheckRun", "name", "missing_field")
    if call.bare.kind(asked.head_sha) != "commit":
        raise Refused(422, f"No commit found for SHA: {asked.head_sha}")
    with call.store.change():
        check = CheckRun(
            id=call.store.next_id(),
            repo=call.repo.id,
            head_sha=asked.head_sha,
            name=asked.name,
            app=app,
        )
        check = call.store.check_runs.put(_changed(call, check, asked))
        call.tell("created", check)
        if check.status == "completed":
            call.tell("completed", check)
    return made(call.renderer.check_run(call.repo, check))


async def change_check(call: Call) -> Answer:
    """`PATCH check-runs/{id}`: by the app that made it."""
    check = call.own(call.store.check_runs, "check")
    asked = call.body(CheckChange)
    if _app(call) != check.app or check.app == ACTIONS_APP:
        raise Refused(403, "Invalid app_id: it is not this app's check run.")
    was = check.status
    with call.store.change():
        check = call.store.check_runs.put(_changed(call, check, asked))
        if check.status == "completed" != was:
            call.tell("completed", check)
    return Answer(call.renderer.check_run(call.repo, check))


def commit_of(call: Call) -> str:
    sha = call.bare.resolve(call.word("ref"))
    if sha is None:
        raise Refused(422, f"No commit found for SHA: {call.word('ref')}")
    return sha


async def list_checks(call: Call) -> Answer:
    """`GET commits/{ref}/check-runs`: the newest of a name and app, newest first."""
    known = call.store.check_runs.of((call.repo.id, commit_of(call)))
    if call.asked("filter") != "all":
        known = list({(one.app, one.name): one for one in known}.values())
    return call.page(
        known[::-1],
        lambda one: call.renderer.check_run(call.repo, one),
        wrap="check_runs",
    )


PLACE = "/_ci/{owner}/{repo}"
"""Below the forge's own address."""


async def put_ci(call: Call) -> Answer:
    """Take a whole `Ci`; it counts for what is judged from now on."""
    ci, forge = call.body(Ci), call.service.forge
    async with call.service.lock(call.repo):
        call.service.judge.look_again(forge.set_ci(call.repo.full_name, ci))
    return Answer(status=204)


ROUTE = Route("PUT", PLACE, put_ci, "admin")


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
    if run.path == CI_PATH:
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


CI_PATH: Final = "dynamic/ci"


def _run_of_ci(call: Call, check: CheckRun) -> Run:
    since = check.started_at or EPOCH
    return Run(
        id=check.id,
        repo=check.repo,
        number=1,
        path=CI_PATH,
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


_BRANCH = "{branch:(?!.+/protection(?:/|$)).+}"
"""A branch; what lies below its protection is something else."""
BRANCH = f"{BY_NAME}/branches/{_BRANCH}"
BRANCH_RULES = BY_NAME + "/rules/branches/{branch:.+}"
CONFIG = BY_NAME + r"/hooks/{hook:\d+}/config"
_ACTIONS = BY_NAME + "/actions"
_WORKFLOW = _ACTIONS + "/workflows/{workflow}"
_RUN = _ACTIONS + r"/runs/{run:\d+}"
ROUTES = (
    Route("PATCH", CONFIG, change_config, "admin"),
    Route("GET", BRANCH, get_branch),
    Route("GET", BRANCH_RULES, empty),
    Route("GET", "/user", shows(lambda call: call.renderer.user(call.user))),
    Route("GET", BY_NAME, shows(lambda call: call.renderer.repository(call.repo))),
    Route("GET", BY_NAME + "/collaborators/{username}/permission", get_permission),
    Route("POST", BY_NAME + "/check-runs", create_check, "write"),
    Route("PATCH", BY_NAME + r"/check-runs/{check:\d+}", change_check, "write"),
    Route("GET", BY_NAME + "/commits/{ref:.+}/check-runs", list_checks),
    Route("GET", BY_NAME + "/commits/{ref:.+}/statuses", empty),
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
