"""Decides who may see which repository's dashboard, and who may press a button.

On a machine of one's own a token and its cookie let people in, on the hosts that the
dashboard serves. The token is printed where the dashboard was started. Opening the
printed address turns it into a cookie that no other site's page can send along.
"""

import hmac
from dataclasses import dataclass
from typing import Final, Protocol
from urllib.parse import urlsplit

from aiohttp import web

from bot.dashboard.dashboard_source import RepositoryView
from bot.forge.github import Right
from convoy.model.state import Convoy, Task
from grite.outbound import names_this_machine


@dataclass(frozen=True, kw_only=True)
class Visitor:
    """The person who asks for a page, as far as the page needs to know."""

    may_write: bool
    may_maintain: bool = False
    login: str = ""
    """The person's account on the forge; empty: nobody signed in."""
    csrf: str = ""
    """The token in each of this person's forms; empty: forms need none."""
    may_sign_in: bool = False


VIEW: Final = web.RequestKey("view", RepositoryView)
TASK: Final = r"/convoys/{convoy}/tasks/{task:\d{1,9}}"
"""The path of a task below a repository's."""


class AccessPolicy(Protocol):
    async def admit(self, request: web.Request) -> web.StreamResponse | None:
        """Return a response that replaces the page; None: go on with the request."""

    async def view(self, request: web.Request) -> RepositoryView | None:
        """Return the repository that the path is about; None: it is about none."""

    async def visitor(self, request: web.Request, view: RepositoryView) -> Visitor:
        """Return the visitor."""

    async def writer(
        self, request: web.Request, view: RepositoryView, right: Right
    ) -> str:
        """Return who presses a button, after checking their right at this moment."""


SOMEBODY: Final = "someone at the dashboard"
LOCAL_PREFIX: Final = "local-"
"""The first characters of this machine's dashboard token, which no other is sent."""
ASKED: Final = "Open the address that brat printed. It contains the token.\n"
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def is_same(given: str, secret: str) -> bool:
    """Whether somebody knows a secret; how long this takes says nothing of it."""
    return hmac.compare_digest(given.encode(errors="replace"), secret.encode())


def is_known(request: web.Request, token: str) -> bool:
    """Whether the request shows the token, as a cookie or as a bearer."""
    if not token:
        return False
    cookie = request.cookies.get(cookie_name(request))
    if cookie is None:
        return shows_token(request, token)
    return is_same(cookie, _cookie(request, token))


def cookie_name(request: web.Request) -> str:
    """Return the name of the cookie for the port that the request names.

    A browser sends each cookie to all ports of a machine. With the port in its name,
    two dashboards do not take each other's.
    """
    return f"brat-dashboard-{request.url.port}"


def _cookie(request: web.Request, token: str) -> str:
    """Return the cookie's value: other ports see it, so it is not the token itself."""
    name = cookie_name(request).encode()
    return hmac.digest(token.encode(), name, "sha256").hex()


def shows_token(request: web.Request, token: str) -> bool:
    shown = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return is_same(shown, token)


def is_from_here(request: web.Request) -> bool:
    """Whether one of our pages sent this, as the browser says; programs say nothing.

    https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Origin
    """
    origin = request.headers.get("Origin")
    if origin is None:
        return request.headers.get("Sec-Fetch-Site", "same-origin") == "same-origin"
    return urlsplit(origin).netloc == request.host


def welcome_token(request: web.Request, token: str) -> web.Response | None:
    """Turn the printed address into a cookie; None: it is not that address.

    The token leaves the address bar with the redirect.
    """
    if "token" not in request.query:
        return None
    if not token or not is_same(request.query["token"], token):
        raise web.HTTPForbidden(text=f"This token is not valid. {ASKED}")
    kept = [(name, value) for name, value in request.query.items() if name != "token"]
    location = str(request.rel_url.with_query(kept))
    answer = web.Response(status=303, headers={"Location": location})
    name, value = cookie_name(request), _cookie(request, token)
    answer.set_cookie(name, value, httponly=True, samesite="Strict", path="/")
    return answer


class TokenAccess:
    def __init__(self, view: RepositoryView) -> None:
        self._view = view

    async def admit(self, request: web.Request) -> web.Response | None:
        """Turn the token into a cookie; refuse whom it does not name, and other names.

        The health check and the files that are the same everywhere need none.
        """
        if not names_this_machine(request.host):
            raise web.HTTPMisdirectedRequest(text="Unknown host name.\n")
        token = self._view.source.token
        answer = welcome_token(request, token)
        is_open = request.path == "/healthz" or request.path.startswith("/static/")
        if answer is None and not is_open and not is_known(request, token):
            raise web.HTTPForbidden(text=ASKED)
        return answer

    async def view(self, _: web.Request) -> RepositoryView:
        return self._view

    async def visitor(self, _: web.Request, _view: RepositoryView) -> Visitor:
        return Visitor(may_write=True, may_maintain=True)

    async def writer(self, request: web.Request, view: RepositoryView, _: Right) -> str:
        """Return `SOMEBODY` as the person who presses a button: names are unknown."""
        if not is_from_here(request) or not is_known(request, view.source.token):
            raise web.HTTPForbidden(text=ASKED)
        return SOMEBODY


def convoy_at(request: web.Request) -> Convoy:
    name = request.match_info["convoy"]
    convoy = request[VIEW].state.convoys.get(name)
    if convoy is None:
        raise web.HTTPNotFound(text=f"There is no convoy {name[:80]}.\n")
    return convoy


def task_at(request: web.Request) -> tuple[Convoy, Task]:
    convoy = convoy_at(request)
    task = convoy.task(int(request.match_info["task"]))
    if task is None:
        raise web.HTTPNotFound(text=f"{convoy.name} has no such task.\n")
    return convoy, task
