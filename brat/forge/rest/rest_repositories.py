"""REST: who I am; repositories, rights, branches, webhooks, checks of commits, and CI.

https://docs.github.com/en/rest/checks/runs
"""

from typing import Any

from msgspec.structs import replace

from brat.forge.resources.forge_records import (
    ACTIONS_APP,
    CheckRun,
    Ci,
    Conclusion,
    Output,
    Progress,
)
from brat.forge.resources.wire import BY_NAME, Refused, fault
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
    with call.store.change():
        call.store.hooks.put(replace(hook, url=config.url))
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


_BRANCH = "{branch:(?!.+/protection(?:/|$)).+}"
"""A branch; what lies below its protection is something else."""
BRANCH = f"{BY_NAME}/branches/{_BRANCH}"
BRANCH_RULES = BY_NAME + "/rules/branches/{branch:.+}"
CONFIG = BY_NAME + r"/hooks/{hook:\d+}/config"
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
)
