"""REST: check runs and commit statuses.

https://docs.github.com/en/rest/checks/runs
"""

from typing import Any, Literal

from msgspec.structs import asdict, replace

from brat.forge.resources import run_resource
from brat.forge.resources.account_resource import ACTIONS_APP, Ci, app_number
from brat.forge.resources.run_resource import (
    Action,
    CheckRun,
    CommitStatus,
    Conclusion,
    Output,
    Progress,
)
from brat.forge.rest.rest_call import (
    Answer,
    Body,
    Call,
    Route,
    checked_actions,
    checked_output,
    found,
    within,
)
from brat.forge.wire import Refused, fault, iso, not_found, parse
from convoy.text import STATUS_CHARS


class CheckOutput(Body):
    """What a check run says."""

    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: tuple[dict[str, Any], ...] = ()


class CheckChange(Body):
    """The body of `PATCH check-runs/{id}`; what is left out stays."""

    name: str | None = None
    status: Progress | None = None
    conclusion: Conclusion | None = None
    details_url: str | None = None
    external_id: str | None = None
    started_at: str | None = None
    completed_at: str | None = None
    output: CheckOutput | None = None
    actions: tuple[Action, ...] | None = None


class NewCheck(CheckChange):
    """The body of `POST check-runs`."""

    head_sha: str = ""


class NewStatus(Body):
    """The body of `POST statuses/{sha}`."""

    state: Literal["error", "failure", "pending", "success"]
    context: str = "default"
    description: str | None = None
    target_url: str | None = None


def _app(call: Call) -> str:
    """Return the slug of the app that calls: only apps write check runs."""
    if call.user.kind != "Bot":
        raise Refused(403, "You must authenticate via a GitHub App.")
    return call.user.login.removesuffix("[bot]")


def _time(field: str, text: str | None) -> str | None:
    try:
        return iso(parse(text)) if text is not None else None
    except ValueError:
        raise fault("CheckRun", field, "invalid") from None


def _changed(call: Call, check: CheckRun, asked: CheckChange) -> CheckRun:
    """Put what is asked for into a check run."""
    now = call.service.forge.now()
    status: Progress = "completed" if asked.conclusion else asked.status or check.status
    conclusion = asked.conclusion or check.conclusion
    if status == "completed" and conclusion is None:
        raise fault("CheckRun", "conclusion", "missing_field")
    output, annotations = check.output, check.annotations
    if asked.output is not None:
        new = asked.output
        checked_output({"summary": new.summary, "text": new.text}, new.annotations)
        output = Output(title=new.title, summary=new.summary, text=new.text)
        annotations += len(new.annotations)
    checked_actions([asdict(one) for one in asked.actions or ()])
    started = _time("started_at", asked.started_at) or check.started_at
    completed = _time("completed_at", asked.completed_at) or check.completed_at
    return replace(
        check,
        name=asked.name or check.name,
        status=status,
        conclusion=conclusion if status == "completed" else None,
        details_url=asked.details_url or check.details_url,
        external_id=asked.external_id or check.external_id,
        started_at=started or now,
        completed_at=(completed or now) if status == "completed" else None,
        output=output,
        annotations=annotations,
        actions=check.actions if asked.actions is None else asked.actions,
    )


async def create_check(call: Call) -> Answer:
    """`POST check-runs`."""
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
        call.service.events.check_run(call.repo, call.user, "created", check)
        if check.status == "completed":
            call.service.events.check_run(call.repo, call.user, "completed", check)
    face = call.service.renderer.check_run(call.repo, check)
    return Answer(face, 201, {"Location": face["url"]})


def _check(call: Call) -> CheckRun:
    check = found(call.store.check_runs.get(call.number("check")))
    if check.repo != call.repo.id:
        raise not_found()
    return check


async def change_check(call: Call) -> Answer:
    """`PATCH check-runs/{id}`: by the app that made it."""
    check, asked = _check(call), call.body(CheckChange)
    if _app(call) != check.app or check.app == ACTIONS_APP:
        raise Refused(403, "Invalid app_id: it is not this app's check run.")
    was = check.status
    with call.store.change():
        check = call.store.check_runs.put(_changed(call, check, asked))
        if check.status == "completed" != was:
            call.service.events.check_run(call.repo, call.user, "completed", check)
    return Answer(call.service.renderer.check_run(call.repo, check))


async def rerequest_check(call: Call) -> Answer:
    """`POST check-runs/{id}/rerequest`: only tells the app that made it.

    https://docs.github.com/rest/checks/runs#rerequest-a-check-run
    """
    check = _check(call)
    with call.store.change():
        call.service.events.check_run(call.repo, call.user, "rerequested", check)
    return Answer({}, 201)


async def get_check(call: Call) -> Answer:
    """`GET check-runs/{id}`."""
    return Answer(call.service.renderer.check_run(call.repo, _check(call)))


def _commit(call: Call) -> str:
    sha = call.bare.resolve(call.word("ref"))
    if sha is None:
        raise Refused(422, f"No commit found for SHA: {call.word('ref')}")
    return sha


async def list_checks(call: Call) -> Answer:
    """`GET commits/{ref}/check-runs`: the newest of a name and app, newest first."""
    name, status = call.asked("check_name"), call.asked("status")
    app = call.asked("app_id")
    known = call.store.check_runs.of((call.repo.id, _commit(call)))
    if call.choice("filter", ("latest", "all")) == "latest":
        known = list({(one.app, one.name): one for one in known}.values())
    chosen = [
        one
        for one in reversed(known)
        if name in {"", one.name}
        and status in {"", one.status}
        and app in {"", str(app_number(one.app))}
    ]
    renderer = call.service.renderer
    return call.page(
        chosen, lambda one: renderer.check_run(call.repo, one), wrap="check_runs"
    )


async def create_status(call: Call) -> Answer:
    """`POST statuses/{sha}`."""
    asked, sha = call.body(NewStatus), call.word("sha")
    if call.bare.kind(sha) != "commit":
        raise Refused(422, f"No commit found for SHA: {sha}")
    within("Status", "description", asked.description, STATUS_CHARS)
    with call.store.change():
        status = call.store.statuses.put(
            CommitStatus(
                id=call.store.next_id(),
                repo=call.repo.id,
                sha=sha,
                state=asked.state,
                context=asked.context,
                creator=call.user.id,
                created_at=call.service.forge.now(),
                description=asked.description,
                target_url=asked.target_url,
            )
        )
        call.service.events.status(call.repo, call.user, status)
    face = run_resource.status(call.site, call.repo, status, call.user)
    return Answer(face, 201, {"Location": face["url"]})


async def combined_status(call: Call) -> Answer:
    """`GET commits/{ref}/status`: the newest of each context."""
    sha = _commit(call)
    known = call.store.statuses.of((call.repo.id, sha))
    newest = [*{one.context: one for one in known}.values()]
    renderer = call.service.renderer

    def shown(one: CommitStatus) -> dict[str, Any]:
        creator = renderer.who(one.creator)
        face = run_resource.status(call.site, call.repo, one, creator)
        del face["creator"]
        return face

    page = call.page(newest, shown, wrap="statuses")
    found_repo = (call.repo, renderer.repository(call.repo))
    states = {one.state for one in newest}
    body = page.body | run_resource.combined(call.site, found_repo, sha, states)
    return Answer(body, headers=page.headers)


async def list_statuses(call: Call) -> Answer:
    """`GET commits/{ref}/statuses`, or `statuses/{ref}`: all of them, newest first."""
    known = call.store.statuses.of((call.repo.id, _commit(call)))

    def shown(one: CommitStatus) -> dict[str, Any]:
        creator = call.service.renderer.who(one.creator)
        return run_resource.status(call.site, call.repo, one, creator)

    return call.page(known[::-1], shown)


_REPO = "/repos/{owner}/{repo}"
_CHECK = _REPO + r"/check-runs/{check:\d+}"
ROUTES = (
    Route("POST", _REPO + "/check-runs", create_check, "write"),
    Route("GET", _CHECK, get_check),
    Route("PATCH", _CHECK, change_check, "write"),
    Route("POST", _CHECK + "/rerequest", rerequest_check, "write"),
    Route("GET", _REPO + "/commits/{ref:.+}/check-runs", list_checks),
    Route("POST", _REPO + "/statuses/{sha}", create_status, "write"),
    Route("GET", _REPO + "/commits/{ref:.+}/status", combined_status),
    Route("GET", _REPO + "/commits/{ref:.+}/statuses", list_statuses),
    Route("GET", _REPO + "/statuses/{ref:.+}", list_statuses),
)


PLACE = "/_ci/{owner}/{repo}"
"""Below the forge's own address."""


async def put_ci(call: Call) -> Answer:
    """Take a whole `Ci`; it counts for what is judged from now on."""
    ci, forge = call.body(Ci), call.service.forge
    async with call.service.lock(call.repo):
        settings = replace(call.repo.settings, ci=ci)
        repo = forge.set_settings(call.repo.full_name, settings)
        call.service.judge.look_again(repo)
    return Answer(status=204)


ROUTE = Route("PUT", PLACE, put_ci, "admin")
