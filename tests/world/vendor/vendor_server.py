"""The vendor's HTTP on loopback: reads a request, asks the script, answers or fails."""

import asyncio
import hashlib
import itertools
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from aiohttp import web
from aiohttp.typedefs import Handler

from tests.world.vendor import (
    amazon_frames,
    anthropic_messages,
    code_assist,
    gemini_content,
    openai_chat,
    openai_responses,
)
from tests.world.vendor.conversation import Asked, Frames, Say, Turn, answer
from tests.world.vendor.script import Case, Cut, Fault, Flood, Hang, Script, Status

HOST: Final = "127.0.0.1"
BODY_BYTES: Final = 64 * 1024 * 1024
FLOOD: Final = "There is always more to say. " * 100
FLOOD_GAP_S: Final = 0.01
"""The pause between two pieces, so that a flood leaves the processor to others."""

Note = Callable[[dict[str, object]], None]
"""A function that is told of every request, and of every call of the model."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The pure side of one API."""

    read: Callable[[Mapping[str, Any]], Asked]
    whole: Callable[[Asked, Turn], dict[str, Any]]
    frames: Callable[[Asked, Turn], Frames]
    fault: Callable[[int, int | None], dict[str, Any]]
    """The body of an HTTP error, by its status and the seconds to wait."""


ANTHROPIC, CHAT, RESPONSES, GEMINI, CODE_ASSIST = (
    Dialect(each.read, each.whole, each.frames, each.fault)
    for each in (
        anthropic_messages,
        openai_chat,
        openai_responses,
        gemini_content,
        code_assist,
    )
)
_PATHS: Final = {
    "/{base:.*}messages": ANTHROPIC,
    "/{base:.*}chat/completions": CHAT,
    "/{base:.*}responses": RESPONSES,
    "/model/{model}/{verb:invoke.*}": ANTHROPIC,
    "/{base:.*}publishers/anthropic/models/{model}:{verb}": ANTHROPIC,
    "/{base:.*}publishers/google/models/{model}:{verb}": GEMINI,
    "/v1beta/models/{model}:{verb}": GEMINI,
    "/v1internal:{verb}": CODE_ASSIST,
}
"""An API may be below any other path."""


class Vendor:
    """The HTTP handlers that play one script."""

    def __init__(self, script: Script, note: Note) -> None:
        self._script = script
        self._note = note
        self._calls: dict[Case, int] = {}

    def routes(self) -> list[web.RouteDef]:
        called = [web.post(path, self._called(one)) for path, one in _PATHS.items()]
        alive = web.get("/", _alive)  # some CLIs check that the server answers
        account = web.post("/v1internal:loadCodeAssist", self._account)
        return [alive, account, *called]

    async def _account(self, request: web.Request) -> web.Response:
        """Say what Code Assist lets an account use."""
        key, path = digest(_key(request)), request.path
        self._note(
            {"path": path, "model": "", "key": key, "body": await _body(request)}
        )
        return web.json_response(code_assist.ACCOUNT)

    def _called(self, dialect: Dialect) -> Callable[[web.Request], Any]:
        async def handle(request: web.Request) -> web.StreamResponse:
            asked = _asked(dialect, request, await _body(request))
            case = self._script.case(asked.text)
            fault = self._fault(case)
            self._note(_record(request, asked, fault))
            return await _answer(_Call(request, dialect, asked, case, fault))

        return handle

    def _fault(self, case: Case) -> Fault | None:
        """Return the fault of this call; None: the call succeeds."""
        number = self._calls[case] = self._calls.get(case, 0) + 1
        over = case.first is not None and number > case.first
        return None if over else case.fault


@dataclass(frozen=True, slots=True)
class _Call:
    request: web.Request
    dialect: Dialect
    asked: Asked
    case: Case
    fault: Fault | None


async def _alive(_: web.Request) -> web.Response:
    return web.Response(text="a scripted vendor")


async def _body(request: web.Request) -> object:
    try:
        return await request.json()
    except ValueError:
        raise web.HTTPBadRequest(text="The body is no JSON.") from None


def _asked(dialect: Dialect, request: web.Request, body: object) -> Asked:
    asked = dialect.read(body if isinstance(body, dict) else {})
    verb = request.match_info.get("verb")
    if verb is None:
        return asked
    streams = "stream" in verb
    model = request.match_info.get("model", asked.model)
    return replace(asked, model=model, stream=streams)


def _record(
    request: web.Request, asked: Asked, fault: Fault | None
) -> dict[str, object]:
    return {
        "path": request.path,
        "model": asked.model,
        "results": asked.results,
        "tools": [tool.name for tool in asked.tools],
        "fault": type(fault).__name__.lower() if fault else None,
        "key": digest(_key(request)),
    }


def digest(key: str) -> str:
    """Return the digest that stands for a key in the log, which must not hold keys."""
    return hashlib.sha256(key.encode()).hexdigest()[:16] if key else ""


def _key(request: web.Request) -> str:
    given = (request.headers.get(name, "") for name in _KEY_HEADERS)
    return next(filter(None, given), "").removeprefix("Bearer ")


_KEY_HEADERS: Final = ("x-api-key", "authorization", "x-goog-api-key")


async def _answer(call: _Call) -> web.StreamResponse:
    match call.fault:
        case Status():
            return _refused(call, call.fault)
        case Hang():
            await asyncio.Event().wait()  # until the client goes away
        case Flood():
            return await _poured(call, Say(FLOOD))
        case _:
            pass
    turn = answer(call.case, call.asked)
    if isinstance(call.fault, Cut):
        return await _cut(call, turn)
    if not call.asked.stream:
        return web.json_response(call.dialect.whole(call.asked, turn))
    frames = call.dialect.frames(call.asked, turn)
    return await _sent(call, (*frames.head, *frames.body, *frames.tail))


def _refused(call: _Call, fault: Status) -> web.Response:
    wait = fault.retry_after
    headers = {} if wait is None else {"Retry-After": str(wait)}
    body = call.dialect.fault(fault.code, wait)
    return web.json_response(body, status=fault.code, headers=headers)


async def _poured(call: _Call, turn: Turn) -> web.StreamResponse:
    frames = call.dialect.frames(call.asked, turn)
    return await _sent(
        call, itertools.chain(frames.head, itertools.cycle(frames.body)), FLOOD_GAP_S
    )


async def _cut(call: _Call, turn: Turn) -> web.StreamResponse:
    """Send the first half, and drop the connection."""
    if call.asked.stream:
        frames = call.dialect.frames(call.asked, turn)
        sent: tuple[bytes, ...] = (
            *frames.head,
            frames.body[0][: len(frames.body[0]) // 2],
        )
    else:
        text = json.dumps(call.dialect.whole(call.asked, turn)).encode()
        sent = (text[: len(text) // 2],)
    response = await _sent(call, sent)
    if call.request.transport is not None:
        call.request.transport.abort()
    return response


async def _sent(
    call: _Call, parts: Iterable[bytes], gap_s: float = 0
) -> web.StreamResponse:
    is_framed = "with-response-stream" in call.request.path
    if call.asked.stream and is_framed:
        kind, parts = amazon_frames.TYPE, map(amazon_frames.framed, parts)
    else:
        kind = "text/event-stream" if call.asked.stream else "application/json"
    response = web.StreamResponse(headers={"Content-Type": kind})
    await response.prepare(call.request)
    for part in parts:
        await response.write(part)
        await asyncio.sleep(gap_s)
    return response


@asynccontextmanager
async def serving(script: Script, note: Note) -> AsyncIterator[str]:
    """Play a script on loopback and give the address."""

    @web.middleware
    async def noted(request: web.Request, handler: Handler) -> web.StreamResponse:
        names = sorted(name.lower() for name in request.headers)
        asked = f"{request.method} {request.path_qs}"
        note({"asked": asked, "headers": names, "body": await request.text()})
        return await handler(request)

    app = web.Application(client_max_size=BODY_BYTES, middlewares=[noted])
    app.add_routes(Vendor(script, note).routes())
    runner = web.AppRunner(
        app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, HOST, 0)
        await site.start()
        host, bound, *_ = runner.addresses[0]
        yield f"http://{host}:{bound}"
    finally:
        await runner.cleanup()
