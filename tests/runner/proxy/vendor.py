"""A vendor that keeps what it was asked, and the real proxy in front of it."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from io import BytesIO

from aiohttp import ClientSession, web
from msgspec.structs import replace

from convoy.model.records import EngineSpec, Limits, Price
from runner.engines import ENGINES
from runner.engines.engine_events import Said
from runner.engines.row import Call, Key
from runner.proxy.proxy_protocol import Dialect, Model, ProxyOrder
from runner.session.proxy_client import ProxyClient
from tests.runner.proxy.attacks import PATHS
from tests.world.given_secrets import given

KEY = given("made-up-key-0123456789")
TOKEN = given("made-up-token-0123456789")


@dataclass
class Vendor:
    """Answers every call with `body`; a stream when `pieces` are to come."""

    status: int = 200
    kind: str = "application/json"
    pieces: tuple[bytes, ...] = (b"{}",)
    gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(99))
    """One is taken before each piece."""
    breaks: bool = False
    """Whether the connection is cut after the last piece."""
    asked: list[web.BaseRequest] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    url: str = ""
    """Set while it is served."""

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path.startswith("/feed/"):  # the port was another test's before
            return web.Response(status=404)
        self.asked.append(request)
        self.bodies.append(await request.read())
        response = web.StreamResponse(
            status=self.status,
            headers={"Content-Type": self.kind, "X-Request-Id": "1", "X-Theirs": "1"},
        )
        await response.prepare(request)
        for piece in self.pieces:
            await self.gate.acquire()
            await response.write(piece)
        if self.breaks and request.transport is not None:
            request.transport.abort()
        return response


@asynccontextmanager
async def serving(vendor: Vendor) -> AsyncIterator[Vendor]:
    if vendor.url:
        yield vendor
        return
    server = web.Server(vendor.handle, access_log=None)
    listening = await asyncio.get_running_loop().create_server(server, "127.0.0.1", 0)
    host, port = listening.sockets[0].getsockname()
    vendor.url = f"http://{host}:{port}"
    try:
        yield vendor
    finally:
        vendor.url = ""
        listening.close()
        await server.shutdown(0.1)


@dataclass(frozen=True)
class Answer:
    status: int
    text: str
    headers: Mapping[str, str]

    @property
    def why(self) -> str:
        """What an error says; empty where there is none."""
        said: str = json.loads(self.text).get("error", {}).get("message", "")
        return said


@dataclass(frozen=True)
class Way:
    """The real proxy in front of a vendor, and who asks it."""

    dialect: Dialect
    vendor: Vendor
    gateway: ProxyClient
    url: str
    session: ClientSession
    told: list[Said]
    """What the proxy says of what it is asked."""

    async def post(
        self, body: object = None, path: str = "", headers: Mapping[str, str] = {}
    ) -> Answer:
        """Ask with the session's token, unless headers are given: bytes as they are."""
        where = self.url + (path or PATHS[self.dialect])
        raw = BytesIO(body) if isinstance(body, bytes) else body
        held = (
            {"json": body} if body is None or isinstance(body, dict) else {"data": raw}
        )
        shown = headers or {"x-api-key": TOKEN}
        async with self.session.post(where, headers=shown, **held) as got:
            return Answer(got.status, await got.text(), got.headers)


@asynccontextmanager
async def proxied(
    dialect: Dialect = "anthropic",
    vendor: Vendor | None = None,
    *,
    limits: Limits | None = None,
    price: Price | None = None,
    offered: Mapping[str, str] = {},
    **changes: object,
) -> AsyncIterator[Way]:
    """Serve a vendor, and start the proxy before it as the witness does.

    `offered` is the job's environment; `changes` are those to the model.
    """
    served = vendor or Vendor()
    async with serving(served), ClientSession() as session:
        model = Model(dialect=dialect, upstream=served.url, key=KEY, token=TOKEN)
        model = replace(model, **changes)
        order = ProxyOrder(model=model, limits=limits or Limits(), price=price)
        with closing(ProxyClient(order, offered, is_boxed=False)) as gateway:
            gateway.serve()
            told = heard(gateway)
            row, spec = ENGINES["claude-code"], EngineSpec(type="claude-code")
            call = Call(row, spec, key=Key("ANTHROPIC_API_KEY", KEY))
            url = gateway.pointed(call).endpoint
            yield Way(dialect, served, gateway, url, session, told)


def heard(gateway: ProxyClient) -> list[Said]:
    said: list[Said] = []
    gateway.note = said.append
    return said
