"""The GitHub App: how one is created by one click, and where it is installed.

The page with the form is on loopback and opens with a token shown once in the terminal.
In the end the App's key is in a file that only its owner can read.
https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
https://docs.github.com/rest/apps/apps#list-installations-for-the-authenticated-app
https://docs.github.com/rest/apps/installations#list-repositories-accessible-to-the-app-installation
"""

import asyncio
import json
import os
import re
import secrets
from collections.abc import Callable, Container
from contextlib import suppress
from dataclasses import dataclass, field
from html import escape
from http import HTTPStatus
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote, urlencode

import httpx
from aiohttp import web
from pydantic import Field, ValidationError

from bot.dashboard.access_policy import is_same
from bot.dashboard.login import DONE
from bot.door.delivery_meaning import LOOK_AT
from bot.door.webhooks import WEBHOOK_PATH as HOOK
from bot.forge.app_auth import PERMISSIONS, AppJwt, AppKey, AppToken
from bot.forge.github_actions import SECRETS_RIGHT
from bot.forge.pace import ForgeClock, Pace
from bot.forge.payloads import Account, Repository, Secret
from bot.forge.rest import Rest
from bot.settings.bot_settings import ORIGIN, ServiceSettings
from grite.errors import BratError, Unavailable

_OF_ADMINISTRATION: Final = frozenset(
    {"branch_protection_configuration", "branch_protection_rule", "repository_ruleset"}
)
"""GitHub lets no App subscribe to these that may not read the administration."""
_NEWER: Final = frozenset({"issue_dependencies", "sub_issues"})
"""Events that an older server does not know: it would refuse the whole manifest."""
EVENTS: Final = tuple(sorted(LOOK_AT.keys() - _OF_ADMINISTRATION))
"""GitHub always sends `installation`, and forbids subscribing to it."""
KEY_FILE: Final = "app.pem"
SETTINGS_FILE: Final = "bot.json"
DASHBOARD_PORT: Final = 8081
_ORIGIN: Final = re.compile(ORIGIN)
_CODE: Final = re.compile(r"[0-9A-Za-z_-]{1,200}")


class AppCreated(Secret):
    id: int
    slug: str
    html_url: str
    pem: str = Field(repr=False)
    webhook_secret: str | None = Field(default=None, repr=False)
    client_id: str = ""
    client_secret: str = Field(default="", repr=False)
    owner: Account | None = None


@dataclass(frozen=True, kw_only=True)
class AppRequest:
    folder: Path
    name: str
    organisation: str = ""
    """The organisation that owns the App; empty: the person who clicks."""
    public_url: str = ""
    """The address at which GitHub reaches the bot; empty: the bot polls."""
    dashboard_url: str = ""
    """The address at which people reach the dashboard; empty: there is none."""
    web_url: str = "https://github.com"
    api_url: str = "https://api.github.com"

    def manifest(self, redirect_url: str) -> dict[str, object]:
        told: dict[str, object] = {
            "name": self.name,
            "url": self.public_url or self.web_url,
            "redirect_url": redirect_url,
            "public": False,
            "default_permissions": {**PERMISSIONS, **SECRETS_RIGHT},
        }
        if self.public_url:
            hook = self.public_url.rstrip("/") + HOOK
            told["hook_attributes"] = {"url": hook, "active": True}
            told["default_events"] = list(EVENTS)
            if not self.web_url.endswith(("//github.com", ".ghe.com")):
                told["default_events"] = sorted({*EVENTS} - _NEWER)
        if self.dashboard_url:
            told["callback_urls"] = [self.dashboard_url + DONE]
        return told

    @property
    def form_url(self) -> str:
        owner = f"/organizations/{quote(self.organisation, safe='')}"
        return f"{self.web_url}{owner if self.organisation else ''}/settings/apps/new"


@dataclass(kw_only=True)
class AppPages:
    """Serves the two pages: the form, and GitHub's answer."""

    wish: AppRequest
    client: httpx.AsyncClient
    address: Callable[[], str]
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    state: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    """GitHub sends it back: without it, a stranger could give us an App of theirs."""
    made: asyncio.Future[AppCreated] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    @property
    def url(self) -> str:
        return f"{self.address()}/?{urlencode({'token': self.token})}"

    def application(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/", self._form)
        app.router.add_get("/made", self._back)
        return app

    async def _form(self, request: web.Request) -> web.Response:
        if self.made.done() or not is_same(request.query.get("token", ""), self.token):
            return _page(HTTPStatus.FORBIDDEN, "Use the address shown in the terminal.")
        told = json.dumps(self.wish.manifest(f"{self.address()}/made"))
        action = f"{self.wish.form_url}?{urlencode({'state': self.state})}"
        form = (
            f"<form action='{escape(action)}' method='post'><input type='hidden' "
            f"name='manifest' value='{escape(told)}'><p>GitHub will ask for a name "
            "and show the App's permissions.</p><button>Create the App "
            f"{escape(self.wish.name)}</button></form>"
        )
        return _page(HTTPStatus.OK, form, posts_to=self.wish.web_url)

    async def _back(self, request: web.Request) -> web.Response:
        code = request.query.get("code", "")
        if self.made.done() or not is_same(request.query.get("state", ""), self.state):
            return _page(HTTPStatus.FORBIDDEN, "This response belongs to another form.")
        if not _CODE.fullmatch(code):
            return _page(HTTPStatus.BAD_REQUEST, "GitHub's code is missing: try again.")
        try:
            made = await app_for_code(self.client, self.wish.api_url, code)
            keep_app(self.wish, made)
        except BratError as error:
            return _page(HTTPStatus.BAD_GATEWAY, escape(str(error)))
        self.made.set_result(made)
        link = escape(f"{made.html_url}/installations/new")
        said = f"{escape(made.slug)} was created. <a href='{link}'>Install it</a> now."
        return _page(HTTPStatus.OK, f"<p>{said}</p>")


async def app_for_code(
    client: httpx.AsyncClient, api_url: str, code: str
) -> AppCreated:
    """Exchange GitHub's code, which is valid once and for an hour, for the App."""
    url = f"{api_url}/app-manifests/{code}/conversions"
    try:
        answer = await client.post(url, headers={"accept": "application/json"})
    except httpx.HTTPError as error:
        raise Unavailable(f"GitHub did not send the App's data: {error!r}") from error
    if answer.status_code != HTTPStatus.CREATED:
        said = f"GitHub did not send the App's data (status {answer.status_code})"
        raise Unavailable(
            f"{said}: start again, because each code works once and for one hour only"
        )
    try:
        return AppCreated.model_validate_json(answer.content)
    except ValidationError as error:
        raise Unavailable("GitHub's response does not describe an App") from error


def dashboard_at(public_url: str, wanted: str) -> str:
    """Return the dashboard's address, `public_url` if none is wanted; empty: none."""
    url = (wanted or public_url).rstrip("/")
    if _ORIGIN.fullmatch(url):
        return url
    if wanted:
        raise BratError(f"--dashboard {wanted}: use https://HOST, without a path")
    return ""


def check_free(folder: Path) -> None:
    for name in (KEY_FILE, SETTINGS_FILE):
        if (folder / name).exists():
            raise BratError(f"{folder / name} already exists: choose another folder")


def keep_app(wish: AppRequest, made: AppCreated) -> None:
    """Write the key and the settings for their owner alone, without overwriting."""
    folder = wish.folder.resolve()
    by = made.owner
    owner = (by.id or by.login) if by else wish.organisation
    told: dict[str, object] = {
        "api_url": wish.api_url,
        "git_url": wish.web_url,
        "app_id": str(made.id),
        "private_key_file": str(folder / KEY_FILE),
        "secret": made.webhook_secret or "",
        "app": made.slug,
        "folder": str(folder / "data"),
        "allowed_owners": [owner] if owner else [],
    }
    if wish.public_url.startswith("https://"):
        told["feed_url"] = wish.public_url.rstrip("/")
    if wish.dashboard_url and made.client_id and made.client_secret:
        told |= {
            "dashboard_url": wish.dashboard_url,
            "dashboard_port": DASHBOARD_PORT,
            "client_id": made.client_id,
            "client_secret": made.client_secret,
        }
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write(folder / KEY_FILE, made.pem)
        _write(folder / SETTINGS_FILE, json.dumps(told, indent=2) + "\n")
    except OSError as error:
        raise BratError(f"cannot store the App in {folder}: {error}") from error


def _write(file: Path, text: str) -> None:
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(handle)


def _page(status: HTTPStatus, inside: str, *, posts_to: str = "'none'") -> web.Response:
    headers = {
        "Cache-Control": "no-store",
        "Content-Security-Policy": f"default-src 'none'; form-action {posts_to}",
        "Referrer-Policy": "no-referrer",
        "X-Frame-Options": "DENY",
    }
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>brat</title>'
    text = f"{head}<main><h1>brat</h1>{inside}</main>"
    return web.Response(
        status=status, text=text, content_type="text/html", headers=headers
    )


class _Installation(Secret):
    id: int
    account: Account | None = None
    suspended_at: str | None = None


class Covered(NamedTuple):
    installation: int | None = None
    """Of the App; None: a token opens it."""
    number: int = 0
    """The forge's id of the repository; 0: not known yet."""


Coverage = tuple[dict[str, Covered], dict[int, str]]
"""The served repositories by full name, and what is wrong with an installation."""


class Installations:
    def __init__(self, client: httpx.AsyncClient, api_url: str, key: AppKey) -> None:
        self.clock = ForgeClock()
        pace = Pace(clock=self.clock)
        token = AppJwt(key, self.clock)
        self.app = Rest(client, api_url=api_url, token=token, pace=pace)
        """A client with the App's own token."""
        self._client = client
        self._api_url = api_url

    async def coverage(
        self, hosting: ServiceSettings, known: Container[int | None] = ()
    ) -> Coverage:
        """Return the served repositories; one broken installation hides no other.

        One of the `known` that is not to be served is on a renamed account.
        """
        served: dict[str, Covered] = {}
        broken: dict[int, str] = {}
        listed = self.app.each(_Installation, "/app/installations?per_page=100")
        async for one in listed:
            on, number = (one.account.login, one.account.id) if one.account else ("", 0)
            if one.suspended_at is None and hosting.allows(on, number):
                try:
                    covered = await self._covered(one.id)
                except BratError as error:
                    said = f"cannot list the repositories of installation {one.id}"
                    broken[one.id] = f"{said}: {error}"
                    continue
                served |= {
                    repo.full_name: Covered(one.id, repo.id)
                    for repo in covered
                    if hosting.serves(repo.full_name, number)
                }
            elif one.suspended_at is None and one.id in known:
                said = f"installation {one.id} is now on {on}"
                broken[one.id] = f"{said}: add it to allowed_owners"
        return served, broken

    async def _covered(self, installation: int) -> list[Repository]:
        """Return an installation's repositories; the token used only reads names."""
        url = f"/app/installations/{installation}/access_tokens"
        wanted = {"permissions": {"metadata": "read"}}
        made = await self.app.make(AppToken, url, wanted)
        rest = Rest(self._client, api_url=self._api_url, token=made.token)
        path = "/installation/repositories?per_page=100"
        try:
            listed = rest.each(Repository, path, "repositories")
            return [repo async for repo in listed]
        finally:
            with suppress(BratError):  # the token only reads names, and expires soon
                await rest.write("DELETE", "/installation/token")
