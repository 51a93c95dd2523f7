"""Is the App as the bot needs it, and every repository that it serves?

Each finding says what puts it right. Only a missing label is put right from here.
https://docs.github.com/rest/apps/apps
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from http import HTTPStatus
from typing import Final, Literal
from urllib.parse import quote

import httpx
from msgspec import Struct
from pydantic import BaseModel, ConfigDict

from bot.door.redelivery import Sent
from bot.forge.app_auth import PERMISSIONS, AppTokens, Grant
from bot.forge.rest import DEADLINE_S, Refused, Rest
from bot.forge.tokens import StaticToken, Tokens
from bot.serving.hosting import Hosting
from bot.serving.manifest import EVENTS
from bot.serving.roster import Roster, key_of
from grite.errors import BratError

SKEW_S: Final = 30.0
"""A token is signed for a minute back; half of that is left for what takes time."""
LATEST: Final = 30
LEVELS: Final = ("none", "read", "write", "admin")
LABEL_COLOUR: Final = "5319e7"


class Found(Struct, frozen=True):
    """One thing that was looked at."""

    grade: Literal["ok", "note", "fault"]
    said: str
    mend: str = ""
    """What puts it right."""


class _App(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    slug: str
    html_url: str
    permissions: dict[str, str] = {}
    events: tuple[str, ...] = ()


class _Workflow(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    state: str


async def examined(hosting: Hosting, *, fix: bool) -> AsyncIterator[Found]:
    """Give what is found, the App first.

    Args:
        hosting: the service's settings.
        fix: make a label that is missing.

    Raises:
        BratError: the forge did not answer, or does not know the App.
    """
    async with AsyncExitStack() as stack:
        client = httpx.AsyncClient(timeout=DEADLINE_S, trust_env=False)
        await stack.enter_async_context(client)
        served: Mapping[str, int | None] = dict.fromkeys(hosting.repositories)
        if hosting.app_id is not None and hosting.private_key_file is not None:
            key = key_of(hosting.app_id, hosting.private_key_file)
            roster = Roster(client, hosting.api_url, key)
            async for found in _app(hosting, roster):
                yield found
            served = await roster.repositories(hosting.allows, hosting.serves)
        if not served:
            yield Found("fault", "no repository is served", "install the App in one")
        for name, installation in served.items():
            tokens = await _tokens(stack, client, hosting, name, installation)
            rest = Rest(client, api_url=hosting.api_url, token=tokens)
            async for found in _repository(hosting, rest, name, fix=fix):
                yield found


async def _tokens(
    stack: AsyncExitStack,
    client: httpx.AsyncClient,
    hosting: Hosting,
    name: str,
    installation: int | None,
) -> Tokens:
    if hosting.app_id is None or hosting.private_key_file is None:
        return StaticToken(hosting.token)
    tokens = AppTokens(
        client,
        api_url=hosting.api_url,
        app=key_of(hosting.app_id, hosting.private_key_file),
        grant=Grant(repository=name, installation=installation),
    )
    return await stack.enter_async_context(tokens)


# --- the App --------------------------------------------------------------------------


async def _app(hosting: Hosting, roster: Roster) -> AsyncIterator[Found]:
    app = await roster.app.read(_App, "/app")
    settings = f"{app.html_url}: settings, permissions and events"
    yield Found("ok", f"the App is {app.slug}")
    if app.slug != hosting.app:
        mend = f'set "app": "{app.slug}" in the settings'
        yield Found("fault", f"the settings call the App {hosting.app}", mend)
    off_s = roster.clock.offset_s
    if abs(off_s) > SKEW_S:
        said = f"this machine's clock is {abs(off_s):.0f} s off the forge's"
        yield Found("note", said, "let it follow a time server")
    if lacks := lacking(app.permissions):
        yield Found("fault", f"the App lacks {', '.join(lacks)}", settings)
    else:
        yield Found("ok", "the App may do what the bot needs")
    if hosting.secret:
        deaf = sorted({*EVENTS} - {*app.events, "*"}) if "*" not in app.events else []
        if deaf:
            said = f"the App does not hear {', '.join(deaf)}: the sweep finds it later"
            yield Found("note", said, settings)
        yield await _deliveries(roster)


def lacking(given: Mapping[str, str]) -> list[str]:
    """Return which permissions are not granted as far as the bot needs them."""
    return [
        f"{name}: {level}"
        for name, level in PERMISSIONS.items()
        if LEVELS.index(given.get(name, "none")) < LEVELS.index(level)
    ]


async def _deliveries(roster: Roster) -> Found:
    """Say whether the forge reaches the door."""
    listed: list[Sent] = []
    async for sent in roster.app.each(Sent, f"/app/hook/deliveries?per_page={LATEST}"):
        listed.append(sent)
        if len(listed) == LATEST:
            break
    failed = [sent for sent in listed if not sent.arrived]
    if not listed:
        return Found("note", "nothing was ever delivered", "label an issue, look again")
    said = f"of the latest {len(listed)} deliveries {len(failed)} failed"
    if not failed:
        return Found("ok", said)
    mend = _mend_delivery(failed[0].status_code)
    return Found("note", f"{said}, the newest with {failed[0].status_code}", mend)


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
    hosting: Hosting, rest: Rest, name: str, *, fix: bool
) -> AsyncIterator[Found]:
    try:
        yield await _label(hosting, rest, name, fix=fix)
        yield await _workflow(hosting, rest, name)
    except BratError as error:
        yield Found("fault", f"{name}: {error}")


async def _label(hosting: Hosting, rest: Rest, name: str, *, fix: bool) -> Found:
    url = f"/repos/{name}/labels"
    label = quote(hosting.label, safe="")
    if await _is_there(rest, f"{url}/{label}"):
        return Found("ok", f"{name}: the label {hosting.label} is there")
    if not fix:
        return Found(
            "note", f"{name}: there is no label {hosting.label}", "--fix makes it"
        )
    told = {"name": hosting.label, "color": LABEL_COLOUR}
    await rest.write("POST", url, told)
    return Found("ok", f"{name}: made the label {hosting.label}")


async def _workflow(hosting: Hosting, rest: Rest, name: str) -> Found:
    file = hosting.workflow
    url = f"/repos/{name}/actions/workflows/{file}"
    if not await _is_there(rest, url):
        said = f"{name}: there is no workflow {file} on the default branch"
        return Found("fault", said, "brat init --actions writes it; push it")
    state = (await rest.read(_Workflow, url)).state
    if state != "active":
        mend = "enable it under Actions in the repository"
        return Found("fault", f"{name}: the workflow {file} is {state}", mend)
    return Found("ok", f"{name}: the workflow {file} can be dispatched")


async def _is_there(rest: Rest, url: str) -> bool:
    try:
        await rest.get(url)
    except Refused as refused:
        if refused.status != HTTPStatus.NOT_FOUND:
            raise
        return False
    return True
