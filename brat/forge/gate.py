"""What every REST call passes: token, rights, limits; and what every answer carries."""

import hashlib
import logging
from dataclasses import replace
from email.utils import format_datetime
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from aiohttp import BasicAuth, hdrs, web
from msgspec import json

from brat.forge import permissions
from brat.forge.callers import Caller
from brat.forge.calls import Answer, Call, Route
from brat.forge.records import Repository
from brat.forge.refusals import Refused, not_found

if TYPE_CHECKING:
    from brat.forge.service import Service

_log: Final = logging.getLogger(__name__)
_NO_BODY: Final = frozenset({204, 302, 304})
MOST_BODY: Final = 25_000_000
"""Bytes."""


def secret_of(request: web.Request) -> str | None:
    """Return the token a request shows, in any of the forms GitHub takes."""
    shown = request.headers.get(hdrs.AUTHORIZATION, "")
    scheme, _, rest = shown.partition(" ")
    if scheme.lower() in {"bearer", "token"}:
        return rest.strip()
    if scheme.lower() == "basic":
        try:
            return str(BasicAuth.decode(shown).password)
        except ValueError:
            return None
    return None


def signed_by(service: "Service", request: web.Request) -> Caller:
    """Return the App that asks.

    Raises:
        Refused: 401, or 404 when nobody knows it.
    """
    signed = secret_of(request)
    if signed is None:
        raise Refused(401, "Requires authentication")
    return service.apps.caller(signed)


def authenticate(service: "Service", request: web.Request) -> Caller:
    """Return who asks.

    Raises:
        Refused: 401.
    """
    secret = secret_of(request)
    if secret is None:
        raise Refused(401, "Requires authentication")
    caller = service.forge.caller(secret)
    if caller is None:
        raise Refused(401, "Bad credentials")
    return caller


def visible(service: "Service", caller: Caller, full_name: str) -> Repository:
    """Return a repository.

    Raises:
        Refused: 404: there is none, or the caller may not know of it.
    """
    repo = service.forge.repository(full_name)
    if repo is None or caller.token.repo not in {None, repo.id}:
        raise not_found()
    access = caller.token.access
    if access is not None and repo.id not in access.repos:
        raise not_found()
    if not service.forge.may(repo, caller.user, "read"):
        raise not_found()
    return repo


class Gate:
    """Turns a route into what the server calls."""

    def __init__(self, service: "Service", route: Route) -> None:
        """Stand before `route`."""
        self._service = service
        self._route = route

    async def answer(self, request: web.Request) -> web.Response:
        """Let one call through, or say why not."""
        headers = {
            "X-GitHub-Request-Id": uuid4().hex.upper(),
            hdrs.DATE: format_datetime(self._service.forge.clock(), usegmt=True),
        }
        try:
            answer = await self._answer(request, headers)
        except Refused as refused:
            answer = Answer(refused.body(), refused.status, refused.headers)
        except Exception:  # noqa: BLE001  the caller gets a 500, the log the reason
            _log.exception("%s %s failed", request.method, request.path)
            answer = Answer({"message": "Server Error"}, 500)
        return _response(
            request, replace(answer, headers=headers | dict(answer.headers))
        )

    async def _answer(self, request: web.Request, headers: dict[str, str]) -> Answer:
        identify = signed_by if self._route.by == "app" else authenticate
        caller = identify(self._service, request)
        call = Call(request, self._service, caller.user, caller.token, app=caller.app)
        if "owner" in request.match_info:
            names = request.match_info
            full_name = f"{names['owner']}/{names['repo']}"
            call = replace(call, found=visible(self._service, caller, full_name))
        headers |= self._service.limits.count(call.user, request.method, call.found)
        if request.method != hdrs.METH_GET:
            if caller.token.scope == "read":
                raise Refused(403, "Resource not accessible by personal access token")
            call = replace(call, body_bytes=await request.read())
        if caller.token.access is not None:
            permissions.check(caller.token.access, self._route, call.found)
        if call.found is not None:
            call.need(self._route.role)
        return await self._route.endpoint(call)


def _response(request: web.Request, answer: Answer) -> web.Response:
    headers = dict(answer.headers)
    if answer.status in _NO_BODY:
        return web.Response(status=answer.status, headers=headers)
    body = json.encode(answer.body)
    if request.method == hdrs.METH_GET and answer.status == web.HTTPOk.status_code:
        tag = f'W/"{hashlib.sha256(body).hexdigest()}"'
        headers["ETag"] = tag
        if request.headers.get(hdrs.IF_NONE_MATCH) == tag:
            return web.Response(status=304, headers=headers)
    return web.Response(
        body=body,
        status=answer.status,
        headers=headers,
        content_type="application/json",
        charset="utf-8",
    )
