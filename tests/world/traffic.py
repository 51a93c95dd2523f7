"""What is asked of a forge by REST, and what it answers, as tests see and judge it."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from aiohttp import hdrs, web
from msgspec import DecodeError, Struct, json

from brat.forge.resources.wire import API
from brat.forge.rest.rest_call import Extension
from brat.forge.service.running_forge import Service

Extend = Callable[[Service], Extension]


class Exchange(Struct, frozen=True, kw_only=True):
    """One request to the REST API and its answer; never a token."""

    method: str
    path: str
    """Without /api/v3."""
    query: dict[str, str]
    request: Any
    """The JSON body; None when there is none."""
    status: int
    response: Any
    """The JSON body; None when there is none."""


Observer = Callable[[Exchange], None]
_Next = Callable[[web.Request], Awaitable[web.StreamResponse]]


def nothing(_: Service) -> Extension:
    return Extension()


def observed(observe: Observer, extend: Extend = nothing) -> Extend:
    """Return an extension like another, whose exchanges `observe` sees, too."""

    @web.middleware
    async def watch(request: web.Request, handler: _Next) -> web.StreamResponse:
        answer = await handler(request)
        is_rest = request.path.startswith(API + "/")
        if not is_rest or not isinstance(answer, web.Response):
            return answer
        body = answer.body if isinstance(answer.body, bytes) else b""
        if not body or answer.content_type == "application/json":
            sent = b"" if request.method == hdrs.METH_GET else await request.read()
            observe(
                Exchange(
                    method=request.method,
                    path=request.raw_path.partition("?")[0].removeprefix(API),
                    query=dict(request.query),
                    request=_json(sent),
                    status=answer.status,
                    response=_json(body),
                )
            )
        return answer

    def extended(service: Service) -> Extension:
        extension = extend(service)
        return replace(extension, middlewares=(watch, *extension.middlewares))

    return extended


def _json(body: bytes) -> Any:  # noqa: ANN401  JSON
    try:
        return json.decode(body) if body else None
    except DecodeError:
        return None


def recorded(path: Path, extend: Extend = nothing) -> Extend:
    """Return an extension like another, whose exchanges a file gets, a line each."""
    file = path.open("ab", buffering=0)

    def write(exchange: Exchange) -> None:
        file.write(json.encode(exchange) + b"\n")

    return observed(write, extend)
