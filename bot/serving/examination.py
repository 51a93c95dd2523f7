"""Checks that the App and every repository it serves suit the bot.

Each finding says how to fix its fault. This module itself can create a missing label
and, where the App may, let the tokens of jobs only read; it never loosens a setting.
https://docs.github.com/rest/apps/apps
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import Final
from urllib.parse import quote

import httpx
from pydantic import Field

from bot.door.redelivery import Sent
from bot.forge import transport
from bot.forge.app_auth import PERMISSIONS, AppTokens, Grant
from bot.forge.payloads import Payload
from bot.forge.rest import Refused, Rest, StaticToken, Tokens
from bot.forge.transport import DEADLINE_S
from bot.forge.workflows import DefaultRight
from bot.serving import (
    actions_settings,
    exposure_findings,
    hook_address,
    rule_findings,
    signers_in_force,
    workflow_presence,
)
from bot.serving.examination_finding import Finding
from bot.serving.installations import Covered, Installations, key_of
from bot.serving.manifest import EVENTS
from bot.serving.workflow_presence import IsOurs
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


class _Workflow(Payload):
    state: str


async def examined(
    hosting: ServiceSettings, is_ours: IsOurs, *, fix: bool
) -> AsyncIterator[Finding]:
    """Give the findings, those about the App first.

    Args:
        hosting: the service's settings.
        is_ours: recognizes this version's workflow files.
        fix: whether to create a missing label and make the default token read-only.

    Raises:
        BratError: the forge did not answer, or does not know the App.
    """
    async with AsyncExitStack() as stack:
        client = transport.async_client(DEADLINE_S)
        await stack.enter_async_context(client)
        served: Mapping[str, Covered | None] = dict.fromkeys(hosting.repositories)
        settings_right = "none"
        if hosting.app_id is not None and hosting.private_key_file is not None:
            key = key_of(hosting.app_id, hosting.private_key_file)
            roster = Installations(client, hosting.api_url, key)
            app = await roster.app.read(_App, "/app")
            settings_right = app.permissions.get(actions_settings.RIGHT, "none")
            async for found in _app(hosting, roster, app):
                yield found
            async for found in hook_address.examined(hosting, roster.app, client):
                yield found
            found_in = await roster.coverage(hosting.allows, hosting.serves)
            served = found_in.repositories
            for number, why in found_in.broken.items():
                said = f"installation {number} does not show its repositories: {why}"
                yield Finding("fault", said, "look at it in the App's settings")
        if not served:
            yield Finding("fault", "no repository is served", "install the App in one")
        for name, covered in served.items():
            installation = covered.installation if covered else None
            visit = _Visit(stack, client, hosting, name, installation, settings_right)
            async for found in _repository(visit, is_ours, fix=fix):
                yield found


@dataclass(frozen=True)
class _Visit:
    """One repository, and how to ask about it."""

    stack: AsyncExitStack
    client: httpx.AsyncClient
    hosting: ServiceSettings
    name: str
    installation: int | None
    settings_right: str
    """The App's level of access to a repository's settings."""

    async def rest(self, more: Mapping[str, str] = MappingProxyType({})) -> Rest:
        """Return a client with the bot's permissions and `more`."""
        hosting = self.hosting
        tokens: Tokens = StaticToken(hosting.token)
        if hosting.app_id is not None and hosting.private_key_file is not None:
            grant = Grant(
                repository=self.name,
                installation=self.installation,
                permissions={**PERMISSIONS, **more},
            )
            key = key_of(hosting.app_id, hosting.private_key_file)
            own = AppTokens(self.client, api_url=hosting.api_url, app=key, grant=grant)
            tokens = await self.stack.enter_async_context(own)
        return Rest(self.client, api_url=hosting.api_url, token=tokens)


# --- the App --------------------------------------------------------------------------


async def _app(
    hosting: ServiceSettings, roster: Installations, app: _App
) -> AsyncIterator[Finding]:
    settings = f"{app.html_url}: settings, permissions and events"
    yield Finding("ok", f"the App is {app.slug}")
    if app.slug != hosting.app:
        mend = f'set "app": "{app.slug}" in the settings'
        yield Finding("fault", f"the settings call the App {hosting.app}", mend)
    off_s = roster.clock.offset_s
    if abs(off_s) > SKEW_S:
        said = f"this machine's clock is {abs(off_s):.0f} s off the forge's"
        yield Finding("note", said, "let it follow a time server")
    if lacks := lacking(app.permissions):
        yield Finding("fault", f"the App lacks {', '.join(lacks)}", settings)
    else:
        yield Finding("ok", "the App may do what the bot needs")
    if hosting.secret:
        deaf = sorted({*EVENTS} - {*app.events, "*"}) if "*" not in app.events else []
        if deaf:
            said = f"the App does not hear {', '.join(deaf)}: the sweep finds it later"
            yield Finding("note", said, settings)
        yield await _deliveries(roster)


def lacking(given: Mapping[str, str]) -> list[str]:
    """Return the permissions that the bot needs and lacks."""
    return [
        f"{name}: {level}"
        for name, level in PERMISSIONS.items()
        if LEVELS.index(given.get(name, "none")) < LEVELS.index(level)
    ]


async def _deliveries(roster: Installations) -> Finding:
    """Return the finding about whether deliveries reach the door."""
    listed: list[Sent] = []
    async for sent in roster.app.each(Sent, f"/app/hook/deliveries?per_page={LATEST}"):
        listed.append(sent)
        if len(listed) == LATEST:
            break
    failed = [sent for sent in listed if not sent.arrived]
    if not listed:
        return Finding(
            "note", "nothing was ever delivered", "label an issue, look again"
        )
    said = f"of the latest {len(listed)} deliveries {len(failed)} failed"
    if not failed:
        return Finding("ok", said)
    mend = _mend_delivery(failed[0].status_code)
    return Finding("note", f"{said}, the newest with {failed[0].status_code}", mend)


def _mend_delivery(status: int) -> str:
    match status:
        case HTTPStatus.UNAUTHORIZED:
            return "the webhook's secret differs: set the same one on both sides"
        case HTTPStatus.UNSUPPORTED_MEDIA_TYPE:
            return "set the webhook's content type to application/json"
        case _:
            return "see that the webhook's address reaches the bot"


# --- a repository ---------------------------------------------------------------------


async def _repository(
    visit: _Visit, is_ours: IsOurs, *, fix: bool
) -> AsyncIterator[Finding]:
    hosting, name = visit.hosting, visit.name
    try:
        rest = await visit.rest()
        yield await _label(hosting, rest, name, fix=fix)
        yield await _workflow(hosting, rest, name)
        files = await workflow_presence.texts(rest, name)
        async for found in workflow_presence.examined(name, files, is_ours):
            yield found
        async for found in rule_findings.examined(rest, hosting.api_url, name):
            yield found
        default = await _default_token(visit)
        async for found in exposure_findings.examined(rest, name, files, default):
            yield found
        whose = signers_in_force.examined(rest, hosting, name, visit.installation)
        async for found in whose:
            yield found
        has_loop = workflow_presence.LOOP in files
        async for found in _settings(visit, has_loop=has_loop, fix=fix):
            yield found
    except BratError as error:
        yield Finding("fault", f"{name}: {error}")


async def _default_token(visit: _Visit) -> DefaultRight:
    right = visit.settings_right
    if not visit.hosting.token and right == "none":
        return ""
    rest = await visit.rest({actions_settings.RIGHT: right})
    return await actions_settings.default_token(rest, visit.name)


async def _settings(
    visit: _Visit, *, has_loop: bool, fix: bool
) -> AsyncIterator[Finding]:
    """Check the settings of Actions, with a token of their own: the bot's cannot."""
    right = visit.settings_right
    if not visit.hosting.token and right == "none":
        yield actions_settings.unseen(visit.name)
        return
    rest = await visit.rest({actions_settings.RIGHT: right})
    async for found in actions_settings.examined(
        rest, visit.name, has_loop=has_loop, fix=fix
    ):
        yield found


async def _label(
    hosting: ServiceSettings, rest: Rest, name: str, *, fix: bool
) -> Finding:
    url = f"/repos/{name}/labels"
    label = quote(hosting.label, safe="")
    if await _is_there(rest, f"{url}/{label}"):
        return Finding("ok", f"{name}: the label {hosting.label} is there")
    if not fix:
        return Finding(
            "note", f"{name}: there is no label {hosting.label}", "--fix makes it"
        )
    told = {"name": hosting.label, "color": LABEL_COLOUR}
    await rest.write("POST", url, told)
    return Finding("ok", f"{name}: made the label {hosting.label}")


async def _workflow(hosting: ServiceSettings, rest: Rest, name: str) -> Finding:
    file = hosting.workflow
    url = f"/repos/{name}/actions/workflows/{file}"
    if not await _is_there(rest, url):
        said = f"{name}: there is no workflow {file} on the default branch"
        return Finding("fault", said, "brat init --hosted writes it; push it")
    state = (await rest.read(_Workflow, url)).state
    if state != "active":
        mend = "enable it under Actions in the repository"
        return Finding("fault", f"{name}: the workflow {file} is {state}", mend)
    return Finding("ok", f"{name}: the workflow {file} can be dispatched")


async def _is_there(rest: Rest, url: str) -> bool:
    try:
        await rest.get(url)
    except Refused as refused:
        if refused.status != HTTPStatus.NOT_FOUND:
            raise
        return False
    return True
