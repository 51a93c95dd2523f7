"""Serves an application within limits that hold before any of its own code runs.

Clients are told apart, so that none takes what is there for all: how many connections
there are, from one client, and how long unused. What is refused is logged once for each
client and reason, however many came.

aiohttp has one deadline for idle connections and none for the first request's head, and
no limit: https://docs.aiohttp.org/en/stable/web_reference.html#aiohttp.web.AppRunner.
"""

import asyncio
import errno
import logging
import resource
import socket
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Final, cast

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.typedefs import Handler, Middleware

from bot.settings.hosts import Origins
from grite.errors import BratError
from grite.outbound import is_local, names_this_machine

AGAIN_S: Final = 3_600.0
"""How long a logged refusal is not logged again."""
REFUSALS_MOST: Final = 200
"""The most lines in that time: a stranger can have any number of addresses."""

_log: Final = logging.getLogger(__name__)


class RefusalLog(logging.Filter):
    """Remembers what was logged; for one event loop.

    As a filter of aiohttp's log it takes the place of the traceback with which aiohttp
    tells of every request that is no HTTP.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._said: OrderedDict[tuple[str, str], float] = OrderedDict()

    def say(self, client: str, why: str) -> None:
        """Log a refusal, if no such line was logged within the hour."""
        now = self._clock()
        while self._said and now - next(iter(self._said.values())) >= AGAIN_S:
            self._said.popitem(last=False)
        if (client, why) in self._said or len(self._said) >= REFUSALS_MOST:
            return
        self._said[client, why] = now
        more = ""
        if len(self._said) == REFUSALS_MOST:
            more = "; refusals of more clients are not logged for an hour"
        _log.warning("refused: client=%.80r %.200s%s", client, why, more)

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether aiohttp's own line is to be logged."""
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, HttpProcessingError):
            return True
        address = record.args[0] if isinstance(record.args, tuple) else ""
        self.say(str(address or ""), f"400 no HTTP ({type(error).__name__})")
        return False


IPV6_PREFIX: Final = 64
"""One subscriber has at least so much: https://www.rfc-editor.org/rfc/rfc6177."""
CLIENT: Final = web.RequestKey("client", str)
"""Who sent a request; empty: it cannot be told from others."""


def client_at(address: str) -> str:
    """Return the client at an address; empty: many clients may come from there.

    An IPv6 network counts as one client. Connections from this machine are those of a
    proxy, which stands for all of its clients.
    """
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return ""
    found = getattr(found, "ipv4_mapped", None) or found
    if found.is_loopback:
        return ""
    if found.version == 4:  # noqa: PLR2004  IP's
        return str(found)
    return str(ip_network((found, IPV6_PREFIX), strict=False))


def request_client(request: web.BaseRequest, origins: Origins) -> str:
    """Return the client that sent a request; empty: it cannot be told from others."""
    forwarded = request.headers.getall("X-Forwarded-For", ())
    return client_at(origins.sender(request.remote, forwarded))


@dataclass(frozen=True, kw_only=True)
class ConnectionLimits:
    connections: int = 512
    per_client: int = 64
    head_s: float = 10.0
    """How long a new connection may take to send its first request's head."""
    idle_s: float = 75.0
    """How long it may wait, or send a head, after a response."""
    unread_s: float = 30.0
    """How long its client may leave a response unread."""

    @property
    def most(self) -> int:
        """The most connections: half of the process' descriptors stay free."""
        return min(self.connections, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)


class Connections:
    """The open connections of one server; for one event loop."""

    def __init__(self, limits: ConnectionLimits, refusals: RefusalLog) -> None:
        self.limits = limits
        self._refusals = refusals
        self._open: dict[asyncio.BaseTransport, Connection] = {}
        """Those unused for the longest first."""

    def __len__(self) -> int:
        return len(self._open)

    @contextmanager
    def handling(self, request: web.BaseRequest) -> Iterator[None]:
        transport = request.transport
        one = self._open.get(transport) if transport is not None else None
        if one is None or transport is None:  # it has gone
            yield
            return
        one.begun()
        try:
            yield
        finally:
            one.handles -= 1
            if self._open.pop(transport, None) is one:
                self._open[transport] = one

    def admit(self, one: "Connection", transport: asyncio.Transport) -> bool:
        """Add a connection, in place of the one unused for the longest if need be."""
        client = one.client
        if client and self._of(client) >= self.limits.per_client:
            said = f"more than {self.limits.per_client} connections"
            self._refusals.say(client, said)
            return False
        if len(self._open) >= self.limits.most:
            self._refusals.say("", f"more than {self.limits.most} connections in all")
            unused = (each for each, of in self._open.items() if not of.handles)
            eldest = next(unused, None)
            if eldest is None:
                return False
            del self._open[eldest]
            cast("asyncio.Transport", eldest).abort()
        self._open[transport] = one
        return True

    def forget(self, transport: asyncio.BaseTransport) -> None:
        """Remove a closed connection; safe to call twice."""
        self._open.pop(transport, None)

    def _of(self, client: str) -> int:
        return sum(each.client == client for each in self._open.values())


class Connection(asyncio.Protocol):
    def __init__(self, inner: asyncio.Protocol, all_of_them: Connections) -> None:
        self._inner = inner
        self._all = all_of_them
        self._transport: asyncio.Transport | None = None
        self._head: asyncio.TimerHandle | None = None
        self.handles = 0
        """How many requests are being handled."""
        self.client = ""

    def begun(self) -> None:
        self.handles += 1
        if self._head is not None:
            self._head.cancel()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        peer = transport.get_extra_info("peername")
        self.client = client_at(str(peer[0])) if isinstance(peer, tuple) else ""
        own = cast("asyncio.Transport", transport)
        if not self._all.admit(self, own):
            own.abort()
            return
        self._transport = own
        _drop_when_unread(own, self._all.limits.unread_s)
        again = asyncio.get_running_loop().call_later
        self._head = again(self._all.limits.head_s, own.abort)
        self._inner.connection_made(own)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is None:
            return
        if self._head is not None:
            self._head.cancel()
        self._all.forget(self._transport)
        self._inner.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._transport is not None:
            self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received() if self._transport is not None else None

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()


def _drop_when_unread(transport: asyncio.Transport, seconds: float) -> None:
    """Let the kernel drop a connection whose client reads nothing for so long.

    https://man7.org/linux/man-pages/man7/tcp.7.html (TCP_USER_TIMEOUT)
    """
    option = getattr(socket, "TCP_USER_TIMEOUT", None)  # Linux only
    own = transport.get_extra_info("socket")
    if option is not None and own is not None and own.family != socket.AF_UNIX:
        own.setsockopt(socket.IPPROTO_TCP, option, int(seconds * 1000))


BUFFER_BYTES: Final = 16_384
"""How much of a body waits unread for its handler: 32 kB for each connection."""
BACKLOG: Final = 128
LINGER_S: Final = 2.0
"""How long the rest of a refused body is thrown away before the connection closes."""


@web.middleware
async def by_own_name(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse requests that name another machine than this one."""
    if not names_this_machine(request.host):
        raise web.HTTPMisdirectedRequest(text="This is not our name.\n")
    return await handler(request)


@asynccontextmanager
async def listening(
    app: web.Application,
    host: str,
    port: int,
    *,
    limits: ConnectionLimits | None = None,
) -> AsyncIterator[int]:
    """Serve an application, which is used once, and give its port; 0 chooses one.

    On loopback it answers to this machine's own names alone.
    """
    if is_local(host):
        app.middlewares.insert(0, by_own_name)
    async with serving_on(listener_at(host, port), app, limits=limits) as bound:
        yield bound


@asynccontextmanager
async def serving_on(
    listener: socket.socket,
    app: web.Application,
    *,
    origins: Origins | None = None,
    limits: ConnectionLimits | None = None,
) -> AsyncIterator[int]:
    """Serve an application on a listening socket, which is closed at the end.

    It is used once. Bodies are never decoded: a decoded body could fill the memory.
    """
    refusals = RefusalLog()
    connections = Connections(limits or ConnectionLimits(), refusals)
    app.middlewares.insert(0, _bounded(connections, refusals, origins or Origins()))
    logger = logging.Logger(__name__)  # noqa: LOG001  as many as there are servers
    logger.parent = logging.getLogger(__name__)
    logger.addFilter(refusals)
    runner = web.AppRunner(
        app,
        access_log=None,
        logger=logger,
        shutdown_timeout=1,
        auto_decompress=False,
        keepalive_timeout=connections.limits.idle_s,
        lingering_time=LINGER_S,
        read_bufsize=BUFFER_BYTES,
    )
    with listener:
        await runner.setup()
        inner = runner.server
        assert inner is not None  # noqa: S101  `setup` makes it
        server = await asyncio.get_running_loop().create_server(
            lambda: Connection(inner(), connections), sock=listener
        )
        try:
            yield int(listener.getsockname()[1])
        finally:
            server.close()
            await runner.cleanup()


def listener_at(host: str, port: int, *, or_any_port: bool = False) -> socket.socket:
    """Return a listening socket; port 0, or a taken one if allowed, means any port.

    Raises:
        BratError: the address or port cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as error:
        taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
        if or_any_port and taken:
            return socket.create_server((host, 0), family=family, backlog=BACKLOG)
        raise BratError(f"cannot listen on {host}:{port}: {error}") from error


@asynccontextmanager
async def listening_behind(
    app: web.Application, path: Path, origins: Origins
) -> AsyncIterator[None]:
    """Serve an application to a front process, on a Unix socket that its owner may use.

    The front process stands before us as one proxy more than `origins` says.
    """
    nearer = replace(origins, proxies=origins.proxies + 1)

    @web.middleware
    async def named(request: web.Request, handler: Handler) -> web.StreamResponse:
        request[CLIENT] = request_client(request, nearer)
        return await handler(request)

    app.middlewares.insert(0, named)
    runner = web.AppRunner(
        app, access_log=None, shutdown_timeout=1, auto_decompress=False
    )
    await runner.setup()
    try:
        await web.UnixSite(runner, str(path)).start()
        yield
    finally:
        await runner.cleanup()


def _bounded(
    connections: Connections, refusals: RefusalLog, origins: Origins
) -> Middleware:
    @web.middleware
    async def bounded(request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse an encoded body, and log each kind of refusal once."""
        request[CLIENT] = request_client(request, origins)
        with connections.handling(request):
            try:
                _refuse_encoding(request)
                answer = await handler(request)
            except web.HTTPException as error:
                _note(refusals, request, error.status)
                raise
        _note(refusals, request, answer.status)
        return answer

    return bounded


def _refuse_encoding(request: web.Request) -> None:
    """Refuse an encoded body: a small one can become a very large one.

    GitHub and browsers never encode one.
    """
    encodings = request.headers.getall("Content-Encoding", ())
    if any(each.strip().casefold() != "identity" for each in encodings):
        raise web.HTTPUnsupportedMediaType(
            text="Send the body without a Content-Encoding.\n"
        )


def _note(refusals: RefusalLog, request: web.Request, status: int) -> None:
    if HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
        client = request[CLIENT] or request.remote or ""
        refusals.say(client, f"{status} {HTTPStatus(status).phrase}")
