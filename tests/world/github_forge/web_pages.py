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
_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")


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
        if app is None or place not in app.new.callbacks:
            raise web.HTTPNotFound(text="There is no such App, or no such callback.\n")
        is_s256 = asked.get("code_challenge_method") == "S256"
        if not (is_s256 and _CHALLENGE.fullmatch(challenge)):
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
        grant = self._grants.pop(form.get("code", ""), None)
        known = [form.get("client_secret"), form.get("redirect_uri")]
        if (
            app is None
            or grant is None
            or grant.app != app.id
            or grant.until <= self._forge.clock()
            or known != [app.new.client_secret, grant.place]
            or grant.challenge != _of(form.get("code_verifier", ""))
        ):
            # as GitHub refuses: with status 200
            return web.json_response({"error": "bad_verification_code"})
        token = self._forge.add_token(grant.user.login, scope="read")
        told = {"access_token": given(token), "scope": "", "token_type": "bearer"}
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
