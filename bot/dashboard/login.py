"""Signing in with an account of the forge: the App's web flow, and our own cookie.

The forge is asked once who a person is; its token is used for that and forgotten. A
signed cookie then names the person for some hours. It never holds their rights: for
those the forge is asked.

https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
https://datatracker.ietf.org/doc/html/rfc7636
"""

import hmac
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlencode

import httpx
import jwt
from aiohttp import web

from bot.dashboard.access_policy import is_from_here, is_same
from bot.forge import transport
from bot.forge.transport import DEADLINE_S
from bot.settings.bot_settings import ServiceSettings
from grite.errors import Unavailable

SESSION: Final = "__Host-brat"
LOGIN: Final = "__Host-brat-login"
SESSION_S: Final = 8 * 3600
LOGIN_S: Final = 600
DONE: Final = "/login/done"
_ALGORITHM: Final = "HS256"
_ANSWER_BYTES: Final = 100_000


@dataclass(frozen=True)
class Person:
    login: str
    number: str
    """The id of their session."""


class Sessions:
    """Makes and reads signed cookies; for one event loop."""

    def __init__(self, key: bytes) -> None:
        """Sign with `key`; anybody who has it can act as any person."""
        self._key = key
        self._ended: dict[str, float] = {}
        """Signed-out sessions, with the time when each would have expired."""

    def sealed(self, what: str, seconds: float, told: Mapping[str, str]) -> str:
        claims = {**told, "aud": what, "exp": int(time.time() + seconds)}  # noqa: TID251  a cookie's end
        return jwt.encode(claims, self._key, _ALGORITHM)

    def opened(self, what: str, value: str | None) -> Mapping[str, Any] | None:
        """Return a cookie's content; None: not ours, of another kind, or expired."""
        try:
            return jwt.decode(
                value or "",
                self._key,
                [_ALGORITHM],
                audience=what,
                options={"require": ["exp", "aud"]},
            )
        except jwt.InvalidTokenError:
            return None

    def person(self, request: web.Request) -> Person | None:
        told = self.opened(SESSION, request.cookies.get(SESSION))
        if told is None or told["jti"] in self._ended:
            return None
        return Person(str(told["sub"]), str(told["jti"]))

    def begin(self, login: str) -> str:
        told = {"sub": login, "jti": secrets.token_urlsafe(16)}
        return self.sealed(SESSION, SESSION_S, told)

    def end(self, person: Person) -> None:
        """End a session, whoever has its cookie; safe to call twice."""
        now = time.monotonic()
        self._ended = {each: at for each, at in self._ended.items() if at > now}
        self._ended[person.number] = now + SESSION_S

    def csrf(self, person: Person) -> str:
        return hmac.new(self._key, f"csrf {person.number}".encode(), sha256).hexdigest()

    async def check_form(self, request: web.Request, person: Person) -> None:
        """Refuse what no form of this person's sends."""
        form = await request.post()
        given = str(form.get("csrf", "")) or request.headers.get("X-CSRF-Token", "")
        if not (is_same(given, self.csrf(person)) and is_from_here(request)):
            raise web.HTTPForbidden(text="The form has expired: reload the page.\n")


class Login:
    def __init__(self, hosting: ServiceSettings, sessions: Sessions) -> None:
        self._sessions = sessions
        self._web, self._api = hosting.git_url.rstrip("/"), hosting.api_url.rstrip("/")
        self._secret = hosting.client_secret
        back = hosting.dashboard_url + DONE  # one of the App's callback URLs
        self._app = {"client_id": hosting.client_id, "redirect_uri": back}

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/login", self._out),
            web.get(DONE, self._back),
            web.post("/logout", self._end),
        ]

    async def _out(self, request: web.Request) -> web.Response:
        """Send a person to the forge, with a secret that only their browser keeps."""
        state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
        told = {"state": state, "verifier": verifier, "to": _inside(request)}
        digest = sha256(verifier.encode()).digest()
        asked = {
            **self._app,
            "state": state,
            "code_challenge": urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        there = f"{self._web}/login/oauth/authorize?{urlencode(asked)}"
        answer = web.Response(status=303, headers={"Location": there})
        _keep(answer, LOGIN, self._sessions.sealed(LOGIN, LOGIN_S, told), LOGIN_S)
        return answer

    async def _back(self, request: web.Request) -> web.Response:
        """Start a session for a person who returns in the browser that was sent off."""
        told = self._sessions.opened(LOGIN, request.cookies.get(LOGIN))
        state = request.query.get("state", "")
        if told is None or not is_same(state, str(told["state"])):
            raise web.HTTPForbidden(text="This sign-in is not valid: sign in again.\n")
        if "error" in request.query or not request.query.get("code"):
            raise web.HTTPForbidden(text="The sign-in was cancelled.\n")
        login = await self._asked(request.query["code"], str(told["verifier"]))
        answer = web.Response(status=303, headers={"Location": str(told["to"])})
        _keep(answer, SESSION, self._sessions.begin(login), SESSION_S)
        _drop(answer, LOGIN)
        return answer

    async def _end(self, request: web.Request) -> web.Response:
        person = self._sessions.person(request)
        if person is not None:
            await self._sessions.check_form(request, person)
            self._sessions.end(person)
        answer = web.Response(status=303, headers={"Location": "/"})
        _drop(answer, SESSION)
        return answer

    async def _asked(self, code: str, verifier: str) -> str:
        told = {
            **self._app,
            "client_secret": self._secret,
            "code": code,
            "code_verifier": verifier,
        }
        accept = {"Accept": "application/json"}
        try:
            async with transport.async_client(DEADLINE_S) as client:
                url = f"{self._web}/login/oauth/access_token"
                granted = _read(await client.post(url, data=told, headers=accept))
                token = granted.get("access_token")
                if not isinstance(token, str):
                    raise web.HTTPForbidden(text="The forge rejected the sign-in.\n")
                shows = {"Authorization": f"Bearer {token}", **accept}
                who = _read(await client.get(f"{self._api}/user", headers=shows))
        except httpx.HTTPError as error:
            raise Unavailable(f"the forge did not respond: {error!r}") from error
        login = who.get("login")
        if not isinstance(login, str) or not login:
            raise Unavailable("the forge did not say which account signed in")
        return login


def _read(answer: httpx.Response) -> Mapping[str, Any]:
    if answer.status_code != HTTPStatus.OK or len(answer.content) > _ANSWER_BYTES:
        raise Unavailable(f"the forge responded with status {answer.status_code}")
    try:
        told = answer.json()
    except ValueError as error:
        raise Unavailable("the forge's response is not JSON") from error
    return told if isinstance(told, dict) else {}


def _inside(request: web.Request) -> str:
    """Return the path for after signing in; only a path of ours is allowed."""
    to = request.query.get("to", "/")
    plain = to.startswith("/") and not to.startswith(("//", "/\\"))
    return to if plain and to.isprintable() else "/"


def _keep(answer: web.Response, name: str, value: str, seconds: int) -> None:
    """Set a cookie that scripts, other hosts and plain HTTP never see.

    Lax, not Strict: the browser has to send it when the forge sends a person back.
    Every change also needs the form's own token and the right origin.
    """
    answer.set_cookie(
        name,
        value,
        max_age=seconds,
        path="/",
        secure=True,
        httponly=True,
        samesite="Lax",
    )


def _drop(answer: web.Response, name: str) -> None:
    answer.del_cookie(name, path="/", secure=True, httponly=True, samesite="Lax")
