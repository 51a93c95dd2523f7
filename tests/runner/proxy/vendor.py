"""A vendor that keeps what it was asked, and the real proxy in front of it."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from aiohttp import ClientSession, web
from msgspec.structs import replace

from convoy.model.records import EngineSpec, Limits, Price
from runner.engines import ENGINES
from runner.engines.engine_events import Said
from runner.engines.row import Call, Key
from runner.proxy.proxy_protocol import Dialect, Model, ProxyOrder
from runner.session.proxy_client import ProxyClient
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
    busy: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once it was asked eight times."""
    called: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once it was asked."""
    asked: list[web.BaseRequest] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    url: str = ""

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path.startswith("/feed/"):  # the port was another test's before
            return web.Response(status=404)
        self.asked.append(request)
        if len(self.asked) == 8:
            self.busy.set()
        self.called.set()
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
    server = web.Server(vendor.handle, access_log=None)
    listening = await asyncio.get_running_loop().create_server(server, "127.0.0.1", 0)
    host, port = listening.sockets[0].getsockname()
    vendor.url = f"http://{host}:{port}"
    try:
        yield vendor
    finally:
        listening.close()
        await server.shutdown(0.1)


@contextmanager
def proxy(
    upstream: str,
    dialect: Dialect = "anthropic",
    *,
    bearer: bool = False,
    changes: Mapping[str, object] = {},
    limits: Limits | None = None,
    price: Price | None = None,
    models: tuple[str, ...] = (),
    allow: tuple[str, ...] = (),
    **offered: str,
) -> Iterator[tuple[ProxyClient, str]]:
    """Start the proxy as the witness does; give it and its address.

    `offered` is the job's environment; `changes` are those to the model.
    """
    model = Model(
        dialect=dialect,
        upstream=upstream,
        key=KEY,
        bearer=bearer,
        token=TOKEN,
        models=models,
        allow=allow,
    )
    model = replace(model, **changes)
    order = ProxyOrder(model=model, limits=limits or Limits(), price=price)
    gateway = ProxyClient(order, offered, is_boxed=False)
    gateway.serve()
    row, spec = ENGINES["claude-code"], EngineSpec(type="claude-code")
    try:
        call = Call(row, spec, key=Key("ANTHROPIC_API_KEY", KEY))
        yield gateway, gateway.pointed(call).endpoint
    finally:
        gateway.close()


def heard(gateway: ProxyClient) -> list[Said]:
    said: list[Said] = []
    gateway.note = said.append
    return said


@asynccontextmanager
async def client() -> AsyncIterator[ClientSession]:
    async with ClientSession(headers={"x-api-key": TOKEN}) as session:
        yield session
