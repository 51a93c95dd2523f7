"""The checks before every REST endpoint, and the headers of every answer."""

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import replace
from email.utils import format_datetime
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from aiohttp import BasicAuth, hdrs, web
from msgspec import json

from brat.forge.resources.account_resource import Repository
from brat.forge.resources.wire import BY_NAME, Refused, not_found
from brat.forge.rest.rest_call import Answer, Call, Extension, Route, found
from brat.forge.storage.forge_state import Caller

if TYPE_CHECKING:
    from brat.forge.service.running_forge import Service


_log: Final = logging.getLogger(__name__)
_NO_BODY: Final = frozenset({204, 302, 304})
NOTHING: Final = Extension()
NOT_ACCESSIBLE: Final = "Resource not accessible by integration"
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


def authenticate(service: "Service", request: web.Request) -> Caller:
    """Return the caller."""
    secret = secret_of(request)
    if secret is None:
        raise Refused(401, "Requires authentication")
    caller = service.forge.caller(secret)
    if caller is None:
        raise Refused(401, "Bad credentials")
    return caller


def visible(service: "Service", caller: Caller, full_name: str) -> Repository:
    """Return a repository."""
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
    """Turns a route into a handler for the server."""

    def __init__(
        self, service: "Service", route: Route, extension: Extension = NOTHING
    ) -> None:
        self._service = service
        self._route = route
        self._guards = extension.guards
        self._permissions = extension.permissions

    async def answer(self, request: web.Request) -> web.Response:
        """Answer one call, or refuse it with a reason."""
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

    def _named(self, names: Mapping[str, str]) -> str | None:
        """Return the repository that a path names, also by id; None: it names none."""
        if "owner" in names:
            return f"{names['owner']}/{names['repo']}"
        if "repository" in names:
            repositories = self._service.forge.store.repositories
            return found(repositories.get(int(names["repository"]))).full_name
        return None

    async def _answer(self, request: web.Request, headers: dict[str, str]) -> Answer:
        caller = (self._route.identify or authenticate)(self._service, request)
        call = Call(request, self._service, caller.user, caller.token)
        full_name = self._named(request.match_info)
        if full_name is not None:
            call = replace(call, found=visible(self._service, caller, full_name))
        writes = request.method != hdrs.METH_GET
        if writes:
            call = replace(call, body_bytes=await request.read())
        for guard in self._guards:
            headers |= guard(call)
        if writes and caller.token.scope == "read":
            raise Refused(403, _read_only(caller), headers=self._accepted())
        if caller.token.access is not None and self._permissions is not None:
            self._permissions.check(call, self._route)
        elif call.found is not None:
            call.need(self._route.role)
        if writes and call.found is not None and call.found.archived:
            self._not_in_archive()
        return await self._route.endpoint(call)

    def _not_in_archive(self) -> None:
        """Refuse to write to an archived repository, but for taking it out again.

        https://docs.github.com/repositories/archiving-a-github-repository/archiving-repositories
        """
        if (self._route.method, self._route.path) != (hdrs.METH_PATCH, BY_NAME):
            raise Refused(403, "Repository was archived so is read-only.")

    def _accepted(self) -> dict[str, str]:
        """Return the header that names what the route needs."""
        asked = self._permissions
        return asked.accepted(self._route) if asked is not None else {}


def _read_only(caller: Caller) -> str:
    """Return the words for a token that may only read: a job's, or a person's."""
    if caller.token.repo is not None:
        return NOT_ACCESSIBLE
    return "Resource not accessible by personal access token"


def _response(request: web.Request, answer: Answer) -> web.Response:
    headers = dict(answer.headers)
    if answer.status in _NO_BODY:
        return web.Response(status=answer.status, headers=headers)
    is_json = not isinstance(answer.body, bytes)
    body = json.encode(answer.body) if is_json else answer.body
    if request.method == hdrs.METH_GET and answer.status == web.HTTPOk.status_code:
        tag = f'W/"{hashlib.sha256(body).hexdigest()}"'
        headers["ETag"] = tag
        if request.headers.get(hdrs.IF_NONE_MATCH) == tag:
            return web.Response(status=304, headers=headers)
    return web.Response(
        body=body,
        status=answer.status,
        headers=headers,
        content_type="application/json" if is_json else "text/plain",
        charset="utf-8",
    )
