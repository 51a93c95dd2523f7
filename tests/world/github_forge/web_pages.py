"""The pages of GitHub that people press: to sign in, and below a check.

There are no pages to sign in at. Whoever sends the browser here is signed in when it
shows a token of an account, as a bearer or in the cookie `user_session`, and agrees.

No API presses it. https://docs.github.com/webhooks/webhook-events-and-payloads#check_run

https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
"""

import re
import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final
from urllib.parse import urlencode

from aiohttp import web

from brat.forge.resources.forge_records import User
from brat.forge.service.running_forge import Service
from brat.forge.storage.forge_state import Forge
from tests.world.github_forge.apps import App, Apps
from tests.world.given_secrets import given

CODE_LASTS: Final = timedelta(minutes=10)
TOKEN_LASTS_S: Final = 28_800
_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_BAD_CODE: Final = (
    "bad_verification_code",
    "The code passed is incorrect or expired.",
)
_BAD_SECRET: Final = (
    "incorrect_client_credentials",
    "The client_id and/or client_secret passed are incorrect.",
)
_BAD_PLACE: Final = (
    "redirect_uri_mismatch",
    "The redirect_uri MUST match the registered callback URL for this application.",
)


@dataclass(frozen=True)
class _Grant:
    """What a code stands for, once."""

    app: int
    user: User
    place: str
    challenge: str
    until: datetime


class OAuth:
    """The codes of one forge; they do not outlive its process."""

    def __init__(self, service: Service) -> None:
        self._forge = service.forge
        self._grants: dict[str, _Grant] = {}

    def routes(self) -> list[web.RouteDef]:
        """Return both ends of the flow."""
        return [
            web.get("/login/oauth/authorize", self._authorize),
            web.post("/login/oauth/access_token", self._exchange),
        ]

    async def _authorize(self, request: web.Request) -> web.Response:
        asked = request.query
        app = self._app(asked.get("client_id", ""))
        place = asked.get("redirect_uri", "")
        challenge = asked.get("code_challenge", "")
        method = asked.get("code_challenge_method", "")
        if app is None or place not in app.new.callbacks:
            raise web.HTTPNotFound(text="There is no such App, or no such callback.\n")
        if (challenge or method) and not (
            method == "S256" and _CHALLENGE.fullmatch(challenge)
        ):
            raise web.HTTPBadRequest(text="The code challenge is none of S256.\n")
        user = signed_in(self._forge, request)
        if user is None:
            raise web.HTTPUnauthorized(text="Nobody is signed in at this forge.\n")
        code = secrets.token_hex(10)
        until = self._forge.clock() + CODE_LASTS
        self._grants[code] = _Grant(app.id, user, place, challenge, until)
        told = {"code": code, "state": asked.get("state", "")}
        raise web.HTTPFound(f"{place}?{urlencode(told)}")

    async def _exchange(self, request: web.Request) -> web.Response:
        form = {key: str(value) for key, value in (await request.post()).items()}
        app = self._app(form.get("client_id", ""))
        if app is None or form.get("client_secret") != app.new.client_secret:
            return _refused(*_BAD_SECRET)
        grant = self._grants.pop(form.get("code", ""), None)
        if grant is None or grant.app != app.id or grant.until <= self._forge.clock():
            return _refused(*_BAD_CODE)
        if form.get("redirect_uri", grant.place) != grant.place:
            return _refused(*_BAD_PLACE)
        if grant.challenge and _of(form.get("code_verifier", "")) != grant.challenge:
            return _refused(*_BAD_CODE)
        told = {
            "access_token": given(
                self._forge.add_token(grant.user.login, scope="read")
            ),
            "expires_in": TOKEN_LASTS_S,
            "scope": "",
            "token_type": "bearer",
        }
        return web.json_response(told)

    def _app(self, client_id: str) -> App | None:
        apps = Apps(self._forge).known.all()
        found = (each for each in apps if each.client_id == client_id)
        return next((each for each in found if each.new.client_secret), None)


def signed_in(forge: Forge, request: web.Request) -> User | None:
    """Return the account whose token a browser shows; None: it shows none."""
    header = request.headers.get("Authorization", "").removeprefix("Bearer ")
    caller = forge.caller(request.cookies.get("user_session") or header)
    return caller.user if caller else None


def _of(verifier: str) -> str:
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def _refused(error: str, why: str) -> web.Response:
    """Return a refusal as GitHub gives it: with status 200."""
    return web.json_response({"error": error, "error_description": why})


@dataclass(frozen=True)
class CheckPages:
    service: Service

    def routes(self) -> list[web.RouteDef]:
        """Return the form's address."""
        return [web.post("/{owner}/{name}/runs/{check:\\d+}/press", self._press)]

    async def _press(self, request: web.Request) -> web.Response:
        store, named = self.service.forge.store, request.match_info
        user = signed_in(self.service.forge, request)
        check = store.check_runs.get(int(named["check"]))
        repo = store.repositories.get(check.repo) if check else None
        form = await request.post()
        pressed = str(form.get("identifier", ""))
        if user is None or check is None or repo is None:
            raise web.HTTPNotFound(text="There is no such check.\n")
        if pressed not in {each["identifier"] for each in check.actions}:
            raise web.HTTPUnprocessableEntity(text="There is no such button.\n")
        with store.change():
            face = self.service.renderer.check_run(repo, check)
            body = {"check_run": face, "requested_action": {"identifier": pressed}}
            kind = ("check_run", "requested_action")
            self.service.events.send(repo, user, kind, body)
        return web.Response(status=204)
