"""What is asked of a forge by REST, and what it answers, as tests see and judge it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

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


def writer(file: IO[bytes]) -> Observer:
    """Return an observer that writes one JSON line an exchange."""

    def write(exchange: Exchange) -> None:
        file.write(json.encode(exchange) + b"\n")
        file.flush()

    return write


def watching(observe: Observer) -> Callable[..., Awaitable[web.StreamResponse]]:
    """Return a middleware that shows every exchange with the API to `observe`."""

    @web.middleware
    async def watch(request: web.Request, handler: _Next) -> web.StreamResponse:
        answer = await handler(request)
        if not request.path.startswith(API + "/"):
            return answer
        if isinstance(answer, web.Response) and _is_json(answer):
            body = answer.body if isinstance(answer.body, bytes) else b""
            sent = b"" if request.method == hdrs.METH_GET else await request.read()
            observe(
                Exchange(
                    method=request.method,
                    path=request.raw_path.partition("?")[0].removeprefix(API),
                    query=dict[str, str](_single(request.query)),
                    request=_json(sent),
                    status=answer.status,
                    response=_json(body),
                )
            )
        return answer

    return watch


def _is_json(answer: web.Response) -> bool:
    return not answer.body or answer.content_type == "application/json"


def _single(query: Mapping[str, str]) -> Mapping[str, str]:
    return {name: query[name] for name in query}


def _json(body: bytes) -> Any:  # noqa: ANN401  JSON
    try:
        return json.decode(body) if body else None
    except DecodeError:
        return None


def nothing(_: Service) -> Extension:
    return Extension()


def observed(observe: Observer, extend: Extend = nothing) -> Extend:
    """Return an extension like another, whose exchanges `observe` sees, too."""

    def extended(service: Service) -> Extension:
        extension = extend(service)
        watchers = (watching(observe), *extension.middlewares)
        return replace(extension, middlewares=watchers)

    return extended


def recorded(path: Path, extend: Extend = nothing) -> Extend:
    """Return an extension like another, whose exchanges are written to a file."""
    return observed(writer(path.open("ab")), extend)
