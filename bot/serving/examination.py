"""Checks that the App and its repositories suit the bot.

Of a repository: its label and workflows, and whether it has CI; whether workflows may
run, and what the tokens of their jobs may do; how its rules let the bot land, and push
its own branches; what CI hands to the code of agents; whether the allowed signers on
the default branch count.

Each finding says how to fix its fault. A missing label can be created and, where the
App may, the tokens of jobs made to only read; no setting is ever loosened. That the
forge sends the App's deliveries to this bot's door is found out by a request to it.
https://docs.github.com/rest/apps/apps
https://docs.github.com/rest/apps/webhooks#get-a-webhook-configuration-for-an-app
https://docs.github.com/rest/actions/workflows#list-repository-workflows
https://docs.github.com/rest/repos/contents#get-repository-content
https://docs.github.com/rest/actions/permissions
https://docs.github.com/rest/repos/rules#get-rules-for-a-branch
"""

import base64
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from http import HTTPStatus
from ipaddress import ip_address
from typing import Final, Literal
from urllib.parse import quote, urlsplit

import httpx
from msgspec import Struct, structs
from pydantic import Field

from bot.door.webhooks import WEBHOOK_PATH
from bot.forge import transport, workflows
from bot.forge.app_auth import PERMISSIONS, AppTokens, Grant, app_key_of
from bot.forge.branch_rules import MAY_PASS, BranchRules
from bot.forge.github_actions import open_environments
from bot.forge.payloads import Payload, Repository, Workflow
from bot.forge.rest import Refused, Rest, StaticToken, Tokens, Unless
from bot.forge.transport import DEADLINE_S
from bot.serving.github_app import EVENTS, Covered, Installations
from bot.settings.bot_folder import source_in_force
from bot.settings.bot_settings import ServiceSettings, Settings
from bot.text import notices
from convoy.rules.target import landing_by
from convoy.views.reasons import unread_rules, way_of_landing
from grite.errors import BratError
from grite.signatures import BOT_SIGNERS_FILE, SIGNERS_FILE, parse_signers

Grade = Literal["ok", "note", "fault"]


class Finding(Struct, frozen=True):
    grade: Grade
    said: str
    mend: str = ""
    """How to repair it."""


IsOurs = Callable[[str, str], bool]
"""Whether this version writes a file with this name and this text."""
SKEW_S: Final = 30.0
"""The largest clock difference: half of the minute by which tokens are backdated."""
LATEST: Final = 30
LEVELS: Final = ("none", "read", "write", "admin")
LABEL_COLOUR: Final = "5319e7"


class _App(Payload):
    slug: str
    html_url: str
    permissions: dict[str, str] = Field(default_factory=dict)
    events: tuple[str, ...] = ()


async def examined(
    hosting: ServiceSettings, is_ours: IsOurs, *, fix: bool
) -> AsyncIterator[Finding]:
    """Give the findings; `fix` makes the label, and the default token read-only."""
    async with (
        transport.async_client(DEADLINE_S) as client,
        AsyncExitStack() as stack,  # its tokens are revoked with the client
    ):
        served = dict.fromkeys(hosting.repositories, Covered())
        key, right = app_key_of(hosting), "none"

        async def opened(grant: Grant) -> Rest:
            tokens: Tokens = StaticToken(hosting.token)
            if key is not None:
                of_app = AppTokens(
                    client, api_url=hosting.api_url, app=key, grant=grant
                )
                tokens = await stack.enter_async_context(of_app)
            return Rest(client, api_url=hosting.api_url, token=tokens)

        if key is not None:
            roster = Installations(client, hosting.api_url, key)
            app = await roster.app.read(_App, "/app")
            right = app.permissions.get(ADMINISTRATION, "none")
            async for found in _app(hosting, roster, app):
                yield found
            async for found in examined_hook(hosting, roster.app, client):
                yield found
            served, broken = await roster.coverage(hosting)
            for why in broken.values():
                yield Finding("fault", why, "check access in the App's settings")
        if not served:
            said = "the bot serves no repository"
            yield Finding("fault", said, "install the App in a repository")
        for name, covered in served.items():
            grant = Grant(repository=name, installation=covered.installation)
            checks = _repository(hosting, grant, opened, right, is_ours, fix=fix)
            async for found in checks:
                yield structs.replace(found, said=f"{name}: {found.said}")


async def _app(
    hosting: ServiceSettings, roster: Installations, app: _App
) -> AsyncIterator[Finding]:
    settings = f"set its permissions and events at {app.html_url}"
    yield Finding("ok", f"the App is {app.slug}")
    if app.slug != hosting.app:
        mend = f'set "app": "{app.slug}" in the settings'
        yield Finding("fault", f"the settings call the App {hosting.app}", mend)
    off_s = roster.clock.offset_s
    if abs(off_s) > SKEW_S:
        said = f"this machine's clock and the forge's differ by {abs(off_s):.0f} s"
        yield Finding("note", said, "synchronise this machine's clock")
    if lacks := lacking(app.permissions):
        yield Finding("fault", f"the App lacks {', '.join(lacks)}", settings)
    else:
        yield Finding("ok", "the App has all permissions that the bot needs")
    if hosting.secret:
        deaf = sorted({*EVENTS} - {*app.events, "*"}) if "*" not in app.events else []
        if deaf:
            said = (
                f"the App is not subscribed to {', '.join(deaf)}, so the bot learns "
                "of these events later, by polling"
            )
            yield Finding("note", said, settings)
        url = f"/app/hook/deliveries?per_page={LATEST}"
        listed = await roster.app.first(_Sent, url, LATEST)  # newest first
        arrived = range(200, 300)
        failed = [sent for sent in listed if sent.status_code not in arrived]
        said = f"{len(failed)} of the latest {len(listed)} deliveries failed"
        if not listed:
            mend = "label an issue, then check again"
            yield Finding("note", "there are no deliveries yet", mend)
        elif failed:
            newest = failed[0].status_code
            mend = _MENDS.get(newest, _MEND_DELIVERY)
            yield Finding("note", f"{said} (newest: status {newest})", mend)
        else:
            yield Finding("ok", said)


def lacking(given: Mapping[str, str]) -> list[str]:
    return [
        f"{name}: {level}"
        for name, level in PERMISSIONS.items()
        if LEVELS.index(given.get(name, "none")) < LEVELS.index(level)
    ]


class _Sent(Payload):
    status_code: int


_MEND_DELIVERY: Final = "make sure that the webhook's address reaches the bot"
_MENDS: Final[Mapping[int, str]] = {
    HTTPStatus.UNAUTHORIZED: "the webhook secrets do not match: set the same "
    "secret in the App and in the settings",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "set the webhook's content type to "
    "application/json",
}


async def _repository(
    hosting: ServiceSettings,
    grant: Grant,
    opened: Callable[[Grant], Awaitable[Rest]],
    settings_right: str,
    is_ours: IsOurs,
    *,
    fix: bool,
) -> AsyncIterator[Finding]:
    """Give the findings of a repository; `settings_right` is to read its settings."""
    name = grant.repository
    try:
        rest = await opened(grant)
        yield await _label(hosting, rest, name, fix=fix)
        yield await _workflow(hosting, rest, name)
        known = await rest.read(Repository, f"/repos/{name}")
        main = known.default_branch
        rules = BranchRules(rest, name)
        own = hosting.of(name, None, known.id)
        files = await workflow_texts(rest, name)
        has_loop = workflows.LOOP_FILE in files
        settings = rest
        if settings_right != "none":  # the bot's own token cannot see them
            rights = {**PERMISSIONS, ADMINISTRATION: settings_right}
            settings = await opened(replace(grant, permissions=rights))
        jobs = await job_settings(settings, name)
        default = jobs.default_workflow_permissions if jobs else ""
        checks = [
            examined_workflows(files, is_ours),
            examined_rules(rules, main, files),
            examined_exposures(rest, name, files, default),
            examined_signers(rest, rules, own, main),
            examined_actions(settings, name, jobs, has_loop=has_loop, fix=fix),
        ]
        for check in checks:
            async for found in check:
                yield found
    except BratError as error:
        yield Finding("fault", str(error))


async def _label(
    hosting: ServiceSettings, rest: Rest, name: str, *, fix: bool
) -> Finding:
    url, label = f"/repos/{name}/labels", quote(hosting.label, safe="")
    with Unless(HTTPStatus.NOT_FOUND):
        await rest.get(f"{url}/{label}")
        return Finding("ok", f"the label {hosting.label} exists")
    if not fix:
        said, mend = f"there is no label {hosting.label}", "use --fix to create it"
        return Finding("note", said, mend)
    told = {"name": hosting.label, "color": LABEL_COLOUR}
    await rest.write("POST", url, told)
    return Finding("ok", f"created the label {hosting.label}")


async def _workflow(hosting: ServiceSettings, rest: Rest, name: str) -> Finding:
    file = hosting.workflow
    state = ""
    with Unless(HTTPStatus.NOT_FOUND):
        url = f"/repos/{name}/actions/workflows/{file}"
        state = (await rest.read(Workflow, url)).state
    if not state:
        said = f"there is no workflow {file} on the default branch"
        return Finding("fault", said, "run brat init --hosted, then push the file")
    if state != "active":
        mend = "enable it under Actions in the repository"
        return Finding("fault", f"the workflow {file} is {state}", mend)
    return Finding("ok", f"the workflow {file} can be dispatched")


class _Workflow(Payload):
    path: str


class _Content(Payload):
    content: str = ""


async def workflow_texts(rest: Rest, name: str) -> dict[str, str]:
    url = f"/repos/{name}/actions/workflows?per_page=100"
    found: dict[str, str] = {}
    async for each in rest.each(_Workflow, url, "workflows"):
        file = each.path.removeprefix(f"{workflows.WORKFLOWS_FOLDER}/")
        if file != each.path and len(found) < workflows.MOST_FILES:
            text = await text_at(rest, name, each.path)
            if text is not None:
                found[file] = text
    return found


async def text_at(rest: Rest, name: str, path: str) -> str | None:
    """Return a file's text on the default branch; None: it is not there."""
    url = f"/repos/{name}/contents/{quote(path)}"
    with suppress(ValueError), Unless(HTTPStatus.NOT_FOUND):  # on another branch
        found = await rest.read(_Content, url)
        return base64.b64decode(found.content).decode(errors="replace")
    return None


async def examined_workflows(
    files: Mapping[str, str], is_ours: IsOurs
) -> AsyncIterator[Finding]:
    for file in workflows.OWN_FILES:
        if file not in files:
            continue
        if is_ours(file, files[file]):
            yield Finding("ok", f"{file} matches this version")
        else:
            mend = "unless you edited it, delete it, run brat init --actions, and push"
            yield Finding("note", f"{file} is from another version of brat", mend)
    own = {
        file: text for file, text in files.items() if file not in workflows.OWN_FILES
    }
    started: set[workflows.StartWay] = {"push"}
    if workflows.LOOP_FILE in files:  # it dispatches, if it is no App
        started.add("dispatch")
    judging = [
        file for file, text in own.items() if workflows.ways_to_start(text) & started
    ]
    if judging:
        yield Finding("ok", f"{', '.join(judging)} can test brat's candidates")
    else:
        said = "no workflow runs on pushes to brat/queue/**"
        mend = 'add "brat/queue/**" to the push branches of your CI workflow, or set '
        yield Finding("note", said, f"{mend}[refinery] require_ci = false")


ADMINISTRATION: Final = "administration"
"""The permission for these settings; the bot itself never needs it."""
_WHERE: Final = "under Settings, Actions, General"


class ActionsPolicy(Payload):
    enabled: bool
    allowed_actions: str = "all"


class JobSettings(Payload):
    can_approve_pull_request_reviews: bool
    default_workflow_permissions: workflows.DefaultRight = ""


async def job_settings(rest: Rest, name: str) -> JobSettings | None:
    """Return what a job's token may do by default; None: the App may not see it."""
    url = f"/repos/{name}/actions/permissions/workflow"
    with suppress(Refused):
        return await rest.read(JobSettings, url)
    return None


async def examined_actions(
    rest: Rest, name: str, jobs: JobSettings | None, *, has_loop: bool, fix: bool
) -> AsyncIterator[Finding]:
    """Give findings about Actions; `fix` makes the default token read-only."""
    if jobs is None:
        said = "the App has no permission to check whether GitHub Actions is enabled"
        yield Finding("note", f"{said} ({ADMINISTRATION}: read)", f"check {_WHERE}")
        return
    actions = await rest.read(ActionsPolicy, f"/repos/{name}/actions/permissions")
    if actions.enabled:
        yield Finding("ok", "GitHub Actions is enabled")
    else:
        yield Finding("fault", "GitHub Actions is disabled", f"enable it {_WHERE}")
    is_read_only = jobs.default_workflow_permissions != "write"
    if is_read_only:
        yield Finding("ok", "by default a job's token is read-only")
    elif fix:
        with suppress(Refused):
            url = f"/repos/{name}/actions/permissions/workflow"
            await rest.write("PUT", url, {"default_workflow_permissions": "read"})
            is_read_only = True
            yield Finding("ok", "made jobs' tokens read-only by default")
    if not is_read_only:  # CI runs what agents write with it
        said = "jobs' tokens can write by default, and CI runs code that agents wrote"
        grant = f"grant {ADMINISTRATION}: write and use --fix"
        mend = f"make tokens read-only by default {_WHERE}, or {grant}"
        yield Finding("fault", said, mend)
    if actions.enabled and actions.allowed_actions != "all":
        is_sure = actions.allowed_actions == "local_only"
        whose = "the repository's own" if is_sure else "selected"
        mend = (
            f"allow actions/upload-artifact and the workflow that brat.yml calls "
            f"{_WHERE}: else its runs fail before they begin"
        )
        grade: Grade = "fault" if is_sure else "note"
        yield Finding(grade, f"only {whose} actions may run", mend)
    if has_loop and jobs.can_approve_pull_request_reviews:
        yield Finding("ok", "jobs may open pull requests")
    elif has_loop:
        said = "jobs may not open pull requests, so brat.yml must act as an App"
        mend = f"add an App, or allow GitHub Actions to create pull requests {_WHERE}"
        yield Finding("note", said, mend)


OWN_BRANCHES: Final = ("convoy/any/base", "brat/queue/any/any")
"""Names to ask the rules for; the branches need not exist."""
_AGAINST: Final = {
    "creation": "no new branches",
    "deletion": "no deletion",
    "merge_queue": "the forge's merge queue",
    "non_fast_forward": "no force pushes",
    "pull_request": "a pull request for each push",
    "required_deployments": "deployments first",
    "required_linear_history": "no merge commits",
    "required_signatures": "signed commits",
    "required_status_checks": "checks before the push",
    "update": "no pushes",
}
"""Rules that matter on the bot's own branches, which it creates, moves and deletes."""
_MEND: Final = (
    "exclude these branches from the ruleset, or add the App to its bypass list, "
    "under Settings, Rules"
)
_READ: Final = "see what the branch requires under Settings, Rules"
_BYPASS: Final = "(The bot can bypass the rules if you set [refinery] bypass = true.)"


async def examined_rules(
    rules: BranchRules, main: str, files: Mapping[str, str]
) -> AsyncIterator[Finding]:
    """Give the findings about the rules of the default branch and of the bot's own."""
    found = await rules.of(main)
    landing = landing_by(found, bypass=False)
    said = f"how a convoy lands: {way_of_landing(landing, main)}"
    if found.passes and landing.way != "push":
        said = f"{said} {_BYPASS}"
    if landing.unknown:
        yield Finding("note", f"{said} {unread_rules(landing)}", _READ)
    elif landing.way == "person":
        yield Finding("note", said, _READ)
    else:
        yield Finding("ok", said)
    if picky := workflows.left_out_by_paths(files, found.checks):
        yield Finding("note", notices.left_out_by_paths(picky))
    for branch in OWN_BRANCHES:
        listed = await rules.listed(branch) or ()
        binding = [rule for rule in listed if rule.type in _AGAINST]
        may = {rule.ruleset_id: await rules.bypass(rule.ruleset_id) for rule in binding}
        left = [rule for rule in binding if may[rule.ruleset_id] not in MAY_PASS]
        if not left:
            said = (
                "the bot may bypass the rules" if binding else "no rule blocks the bot"
            )
            yield Finding("ok", f"{said} on {branch}")
            continue
        wanted = ", ".join(sorted({_AGAINST[rule.type] for rule in left}))
        is_sure = any(may[rule.ruleset_id] for rule in left)
        more = "GitHub does not show whether the bot may bypass them"
        more, block = ("", "block") if is_sure else (f"; {more}", "may block")
        said = f"the rules on {branch} {block} the bot ({wanted}){more}"
        yield Finding("fault" if is_sure else "note", said, _MEND)


async def examined_exposures(
    rest: Rest, name: str, files: Mapping[str, str], default: workflows.DefaultRight
) -> AsyncIterator[Finding]:
    """Give a fault for each thing that an agent's code could reach."""
    own = {
        file: text for file, text in files.items() if file not in workflows.OWN_FILES
    }
    reachable = await open_environments(rest, name, workflows.environments_in(own))
    found = workflows.exposures(own, default, reachable)
    for one in found:
        yield Finding("fault", one.said, one.mend)
    if not found:
        yield Finding("ok", "CI gives agents' code a read-only token and no secrets")


async def examined_signers(
    rest: Rest, rules: BranchRules, settings: Settings, main: str
) -> AsyncIterator[Finding]:
    name = settings.repository
    text = await text_at(rest, name, SIGNERS_FILE)
    found, why = source_in_force(
        settings.allowed_signers, has_file=text is not None, rules=await rules.of(main)
    )
    said = f"allowed signers: {why}"
    if text is not None and found == "own key":
        mend = (
            f"require an approval on {main}, or pin the keys in the setting "
            '"allowed_signers" and in the variable BRAT_ALLOWED_SIGNERS'
        )
        yield Finding("fault", said, mend)
    else:
        yield Finding("ok", said)
    file = settings.folder / BOT_SIGNERS_FILE
    line = file.read_text().strip() if file.is_file() else ""  # it has made none yet
    if line and not _keys(line) <= _keys(text or ""):
        yield Finding(
            "note",
            f"{SIGNERS_FILE} does not list the bot's key, so sessions accept its "
            "hand-offs only if the variable BRAT_ALLOWED_SIGNERS lists it",
            f"add this line: {line}",
        )


def _keys(text: str) -> set[bytes]:
    """Return the keys that a file allows; one that cannot be read allows nobody."""
    with suppress(BratError):
        return {signer.public for signer in parse_signers(text).signers}
    return set()


_EXAMPLES: Final = (
    *("example.com", "example.net", "example.org"),
    *("example", "invalid", "test"),
)
"""Reserved names that nobody owns: https://www.rfc-editor.org/rfc/rfc2606"""
_HOOK: Final = "the App's webhook settings"


class _Config(Payload):
    url: str | None = ""
    content_type: str = "form"
    insecure_ssl: str | float = "0"


async def examined_hook(
    hosting: ServiceSettings, app: Rest, client: httpx.AsyncClient
) -> AsyncIterator[Finding]:
    """Give the findings about the webhook's address; sends one unsigned request there.

    A service without a secret polls.
    """
    config = await app.read(_Config, "/app/hook/config")
    url = config.url or ""
    if not hosting.secret:
        if url:
            said = "the App has a webhook, but the settings have no secret for it"
            mend = f"set one in both places, or clear the address in {_HOOK} to poll"
            yield Finding("note", said, mend)
        return
    if not url:
        address = f"https://YOUR-HOST{WEBHOOK_PATH}"
        mend = f"set it in {_HOOK} to {address}, or serve with --poll"
        yield Finding("fault", "the webhook has no address", mend)
        return
    if config.content_type != "json":
        mend = f"set the content type to application/json in {_HOOK}"
        yield Finding("fault", "the webhook does not send JSON", mend)
    if str(config.insecure_ssl).startswith("1"):
        said = "the webhook does not verify TLS, so anyone can impersonate the bot"
        yield Finding("note", said, f"enable SSL verification in {_HOOK}")
    if why := nowhere(url, hosting.api_url):
        mend = f"set the bot's public address in {_HOOK}"
        yield Finding("fault", f"the webhook's address {url} {why}", mend)
        return
    try:  # only the bot's door answers an unsigned request with 401
        status = (await client.post(url, content=b"")).status_code
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        said = f"the webhook's address {url} cannot be reached from here: {error!r}"
        mend = "check that the bot is running and its proxy forwards to it"
        yield Finding("note", said, mend)
        return
    if status == HTTPStatus.UNAUTHORIZED:
        yield Finding("ok", f"the bot's webhook endpoint is at {url}")
    elif status == HTTPStatus.FORBIDDEN:
        said = f"the webhook endpoint at {url} rejects this machine's address"
        yield Finding("note", said, "add the forge's networks to allowed_networks")
    else:
        said = (
            f"{url} returns {status}, but the bot's webhook endpoint would return 401"
        )
        yield Finding("fault", said, f"use the path {WEBHOOK_PATH} on the bot's port")


def nowhere(url: str, api_url: str) -> str:
    """Return why a forge cannot send to an address; empty: it perhaps can."""
    try:
        host, forge = urlsplit(url).hostname or "", urlsplit(api_url).hostname or ""
    except ValueError:
        return "is not a valid address"
    if any(host == name or host.endswith(f".{name}") for name in _EXAMPLES):
        return "is only an example"
    if _is_near(host) and not _is_near(forge):
        return "is inside a network that the forge cannot reach"
    return ""


def _is_near(host: str) -> bool:
    try:
        return not ip_address(host).is_global
    except ValueError:
        return host == "localhost" or "." not in host
