"""Checks that the App and its repositories suit the bot.

Each finding says how to fix its fault. A missing label can be created and, where the
App may, the tokens of jobs made to only read; no setting is ever loosened. That the
forge sends the App's deliveries to this bot's door is found out by a request to it.
https://docs.github.com/rest/apps/apps
https://docs.github.com/rest/apps/webhooks#get-a-webhook-configuration-for-an-app
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from http import HTTPStatus
from ipaddress import ip_address
from types import MappingProxyType
from typing import Final
from urllib.parse import quote, urlsplit

import httpx
from msgspec import structs
from pydantic import Field

from bot.door.webhooks import WEBHOOK_PATH
from bot.forge import transport
from bot.forge.app_auth import PERMISSIONS, AppTokens, Grant, app_key_of
from bot.forge.branch_rules import BranchRules
from bot.forge.payloads import Payload, Repository, Workflow
from bot.forge.rest import Rest, StaticToken, Tokens, Unless
from bot.forge.transport import DEADLINE_S
from bot.forge.workflows import LOOP_FILE
from bot.serving import repository_checks
from bot.serving.github_app import EVENTS, Covered, Installations
from bot.serving.repository_checks import Finding, IsOurs
from bot.settings.bot_settings import ServiceSettings
from grite.errors import BratError

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
    async with AsyncExitStack() as stack:
        client = transport.async_client(DEADLINE_S)
        await stack.enter_async_context(client)
        served = dict.fromkeys(hosting.repositories, Covered())
        settings_right = "none"
        if key := app_key_of(hosting):
            roster = Installations(client, hosting.api_url, key)
            app = await roster.app.read(_App, "/app")
            settings_right = app.permissions.get(
                repository_checks.ADMINISTRATION, "none"
            )
            async for found in _app(hosting, roster, app):
                yield found
            async for found in examined_hook(hosting, roster.app, client):
                yield found
            found_in = await roster.coverage(hosting.allows, hosting.serves)
            served = found_in.repositories
            for number, why in found_in.broken.items():
                said = f"cannot list the repositories of installation {number}: {why}"
                yield Finding("fault", said, "check access in the App's settings")
        if not served:
            said = "the bot serves no repository"
            yield Finding("fault", said, "install the App in a repository")
        for name, covered in served.items():
            given = covered.installation, settings_right
            visit = _Visit(stack, client, hosting, name, *given)
            async for found in _repository(visit, is_ours, fix=fix):
                yield structs.replace(found, said=f"{name}: {found.said}")


@dataclass(frozen=True)
class _Visit:
    stack: AsyncExitStack
    client: httpx.AsyncClient
    hosting: ServiceSettings
    name: str
    installation: int | None
    settings_right: str
    """The App's level of access to a repository's settings."""

    async def rest(self, more: Mapping[str, str] = MappingProxyType({})) -> Rest:
        hosting = self.hosting
        tokens: Tokens = StaticToken(hosting.token)
        if key := app_key_of(hosting):
            grant = Grant(
                repository=self.name,
                installation=self.installation,
                permissions={**PERMISSIONS, **more},
            )
            own = AppTokens(self.client, api_url=hosting.api_url, app=key, grant=grant)
            tokens = await self.stack.enter_async_context(own)
        return Rest(self.client, api_url=hosting.api_url, token=tokens)


# --- the App --------------------------------------------------------------------------


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
        yield await _deliveries(roster)


def lacking(given: Mapping[str, str]) -> list[str]:
    return [
        f"{name}: {level}"
        for name, level in PERMISSIONS.items()
        if LEVELS.index(given.get(name, "none")) < LEVELS.index(level)
    ]


class _Sent(Payload):
    status_code: int

    @property
    def arrived(self) -> bool:
        return 200 <= self.status_code < 300  # noqa: PLR2004  HTTP's


async def _deliveries(roster: Installations) -> Finding:
    url = f"/app/hook/deliveries?per_page={LATEST}"
    listed = await roster.app.first(_Sent, url, LATEST)  # newest first
    failed = [sent for sent in listed if not sent.arrived]
    if not listed:
        return Finding(
            "note", "there are no deliveries yet", "label an issue, then check again"
        )
    said = f"{len(failed)} of the latest {len(listed)} deliveries failed"
    if not failed:
        return Finding("ok", said)
    mend = _MENDS.get(failed[0].status_code, _MEND_DELIVERY)
    return Finding("note", f"{said} (newest: status {failed[0].status_code})", mend)


_MEND_DELIVERY: Final = "make sure that the webhook's address reaches the bot"
_MENDS: Final[Mapping[int, str]] = {
    HTTPStatus.UNAUTHORIZED: "the webhook secrets do not match: set the same "
    "secret in the App and in the settings",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "set the webhook's content type to "
    "application/json",
}


# --- a repository ---------------------------------------------------------------------


async def _repository(
    visit: _Visit, is_ours: IsOurs, *, fix: bool
) -> AsyncIterator[Finding]:
    hosting, name, right = visit.hosting, visit.name, visit.settings_right
    try:
        rest = await visit.rest()
        yield await _label(hosting, rest, name, fix=fix)
        yield await _workflow(hosting, rest, name)
        known = await rest.read(Repository, f"/repos/{name}")
        main = known.default_branch
        rules = BranchRules(rest, name)
        own = hosting.of(name, visit.installation, known.id)
        files = await repository_checks.workflow_texts(rest, name)
        has_loop = LOOP_FILE in files
        settings = rest
        if right != "none":  # the bot's own token cannot see them
            settings = await visit.rest({repository_checks.ADMINISTRATION: right})
        jobs = await repository_checks.job_settings(settings, name)
        default = jobs.default_workflow_permissions if jobs else ""
        checks = [
            repository_checks.examined_workflows(files, is_ours),
            repository_checks.examined_rules(rules, main, files),
            repository_checks.examined_exposures(rest, name, files, default),
            repository_checks.examined_signers(rest, rules, own, main),
            repository_checks.examined_actions(
                settings, name, jobs, has_loop=has_loop, fix=fix
            ),
        ]
        for check in checks:
            async for found in check:
                yield found
    except BratError as error:
        yield Finding("fault", str(error))


async def _label(
    hosting: ServiceSettings, rest: Rest, name: str, *, fix: bool
) -> Finding:
    url = f"/repos/{name}/labels"
    label = quote(hosting.label, safe="")
    if await _is_there(rest, f"{url}/{label}"):
        return Finding("ok", f"the label {hosting.label} exists")
    if not fix:
        said, mend = f"there is no label {hosting.label}", "use --fix to create it"
        return Finding("note", said, mend)
    told = {"name": hosting.label, "color": LABEL_COLOUR}
    await rest.write("POST", url, told)
    return Finding("ok", f"created the label {hosting.label}")


async def _workflow(hosting: ServiceSettings, rest: Rest, name: str) -> Finding:
    file = hosting.workflow
    url = f"/repos/{name}/actions/workflows/{file}"
    if not await _is_there(rest, url):
        said = f"there is no workflow {file} on the default branch"
        return Finding("fault", said, "run brat init --hosted, then push the file")
    state = (await rest.read(Workflow, url)).state
    if state != "active":
        mend = "enable it under Actions in the repository"
        return Finding("fault", f"the workflow {file} is {state}", mend)
    return Finding("ok", f"the workflow {file} can be dispatched")


async def _is_there(rest: Rest, url: str) -> bool:
    with Unless(HTTPStatus.NOT_FOUND):
        await rest.get(url)
        return True
    return False


_EXAMPLES: Final = (
    *("example.com", "example.net", "example.org"),
    *("example", "invalid", "test"),
)
"""Reserved names that nobody owns: https://www.rfc-editor.org/rfc/rfc2606"""
_WHERE: Final = "the App's webhook settings"


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
            mend = f"set one in both places, or clear the address in {_WHERE} to poll"
            yield Finding("note", said, mend)
        return
    if not url:
        address = f"https://YOUR-HOST{WEBHOOK_PATH}"
        mend = f"set it in {_WHERE} to {address}, or serve with --poll"
        yield Finding("fault", "the webhook has no address", mend)
        return
    if config.content_type != "json":
        mend = f"set the content type to application/json in {_WHERE}"
        yield Finding("fault", "the webhook does not send JSON", mend)
    if str(config.insecure_ssl).startswith("1"):
        said = "the webhook does not verify TLS, so anyone can impersonate the bot"
        yield Finding("note", said, f"enable SSL verification in {_WHERE}")
    if why := nowhere(url, hosting.api_url):
        mend = f"set the bot's public address in {_WHERE}"
        yield Finding("fault", f"the webhook's address {url} {why}", mend)
    else:
        yield await _reached(client, url)


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


async def _reached(client: httpx.AsyncClient, url: str) -> Finding:
    """Send an unsigned request: only the bot's door answers it with 401."""
    try:
        status = (await client.post(url, content=b"")).status_code
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        said = f"the webhook's address {url} cannot be reached from here: {error!r}"
        return Finding(
            "note", said, "check that the bot is running and its proxy forwards to it"
        )
    if status == HTTPStatus.UNAUTHORIZED:
        return Finding("ok", f"the bot's webhook endpoint is at {url}")
    if status == HTTPStatus.FORBIDDEN:
        said = f"the webhook endpoint at {url} rejects this machine's address"
        return Finding("note", said, "add the forge's networks to allowed_networks")
    said = f"{url} returns {status}, but the bot's webhook endpoint would return 401"
    return Finding("fault", said, f"use the path {WEBHOOK_PATH} on the bot's port")
