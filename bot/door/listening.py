"""Serves an application within limits that hold before any of its own code runs.

A connection ends when its head, its body or its next request does not come in time.
When all are in use, the eldest that waits for its client makes room. How many one
client may have is for the proxy in front to say: docs/hosting.md.

aiohttp has one deadline for idle connections and none for the first request's head or
for a body: https://docs.aiohttp.org/en/stable/web_reference.html#aiohttp.web.AppRunner.
"""

import asyncio
import errno
import json
import logging
import resource
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from ipaddress import ip_address, ip_network
from typing import Final, cast

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.typedefs import Handler, Middleware

from bot.settings.hosts import Origins
from grite.errors import BratError
from grite.outbound import is_local, names_this_machine

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


@dataclass(frozen=True, kw_only=True)
class ConnectionLimits:
    connections: int = 256
    head_s: float = 10.0
    """How long a new connection may take to send its first request's head."""
    body_s: float = 60.0
    idle_s: float = 75.0
    """How long a connection may wait, or send a head, after a response."""
    unread_s: float = 30.0
    """How long its client may leave a response unread."""

    @property
    def most(self) -> int:
        """The most connections: most of the process' descriptors stay free."""
        return min(self.connections, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4)


BUFFER_BYTES: Final = 16_384
"""How much of a body waits unread for its handler: 32 kB for each connection."""
BACKLOG: Final = 128
LINGER_S: Final = 2.0
"""How long the rest of a refused body is thrown away before the connection closes."""


class _Connection(web.RequestHandler):
    def __init__(self, server: web.Server, limits: ConnectionLimits) -> None:
        loop = asyncio.get_running_loop()
        super().__init__(
            server,
            loop=loop,
            access_log=_quiet,
            logger=_quiet,
            auto_decompress=False,
            keepalive_timeout=limits.idle_s,
            lingering_time=LINGER_S,
            read_bufsize=BUFFER_BYTES,
        )
        self._head = loop.call_later(limits.head_s, self.force_close)
        self.request: web.BaseRequest | None = None
        """The one that is being handled."""

    @property
    def waits_for_client(self) -> bool:
        return self.request is None or not self.request.content.is_eof()

    def begin(self, request: web.BaseRequest) -> None:
        self._head.cancel()
        self.request = request

    def connection_lost(self, exc: BaseException | None) -> None:
        self._head.cancel()
        super().connection_lost(exc)


def _admitted(server: web.Server, limits: ConnectionLimits) -> _Connection:
    """Return a new connection, which ends at once where none makes room for it."""
    known = cast("list[_Connection]", server.connections)
    open_ = [each for each in known if each.transport is not None]
    if len(open_) >= limits.most:
        eldest = next((each for each in open_ if each.waits_for_client), None)
        if eldest is None:
            limits = replace(limits, head_s=0)
        else:
            eldest.force_close()
    return _Connection(server, limits)


def _is_of_ours(record: logging.LogRecord) -> bool:
    """Whether a line tells of more than of a request that is no HTTP."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, HttpProcessingError)


_quiet: Final = logging.getLogger(f"{__name__}.aiohttp")
_quiet.addFilter(_is_of_ours)
_quiet.setLevel(logging.WARNING)  # no line for each request


@web.middleware
async def by_own_name(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse requests that name another machine than this one."""
    if not names_this_machine(request.host):
        raise web.HTTPMisdirectedRequest(text="Unknown host name.\n")
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
    """Serve an app, once, on a socket that is closed at the end; decodes no body."""
    limits = limits or ConnectionLimits()
    app.middlewares.insert(0, _bounded(limits, origins or Origins()))
    runner = web.AppRunner(app, shutdown_timeout=1)
    with listener:
        # The kernel drops connections whose client reads nothing for so long; they have
        # the option from their listener.
        # https://man7.org/linux/man-pages/man7/tcp.7.html (TCP_USER_TIMEOUT)
        option = getattr(socket, "TCP_USER_TIMEOUT", None)  # Linux only
        if option is not None:
            unread_ms = int(limits.unread_s * 1000)
            listener.setsockopt(socket.IPPROTO_TCP, option, unread_ms)
        await runner.setup()
        inner = runner.server
        assert inner is not None  # noqa: S101  `setup` makes it
        server = await asyncio.get_running_loop().create_server(
            lambda: _admitted(inner, limits), sock=listener
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


def _bounded(limits: ConnectionLimits, origins: Origins) -> Middleware:
    turn = asyncio.Lock()

    @web.middleware
    async def bounded(request: web.Request, handler: Handler) -> web.StreamResponse:
        forwarded = request.headers.getall("X-Forwarded-For", ())
        request[CLIENT] = client_at(origins.sender(request.remote, forwarded))
        connection = cast("_Connection", request.protocol)

        def end_if_late() -> None:
            if connection.waits_for_client:
                connection.force_close()

        loop = asyncio.get_running_loop()
        body = loop.call_later(limits.body_s, end_if_late)
        connection.begin(request)
        try:
            # A small encoded body can become a very large one; GitHub and browsers
            # never encode one.
            encodings = request.headers.getall("Content-Encoding", ())
            if any(each.strip().casefold() != "identity" for each in encodings):
                raise web.HTTPUnsupportedMediaType(
                    text="Send the body without a Content-Encoding.\n"
                )
            async with turn:  # other servers of this loop have theirs between two
                await asyncio.sleep(0)
            return await handler(request)
        finally:
            connection.request = None
            body.cancel()

    return bounded


class BytesInFlight:
    """Counts the bytes of all bodies that are being received; for one event loop.

    Where there is no more room, the body that has been unfinished for the longest is
    given up: one that is sent slowly on purpose never keeps out one that is sent at
    once.
    """

    def __init__(self, most: int = 64_000_000) -> None:
        self._most = most
        self.of: dict[asyncio.Timeout, int] = {}
        """How many bytes each body has, by its deadline, the oldest body first."""

    def add(self, body: asyncio.Timeout, size: int) -> None:
        if body not in self.of:
            return  # it was given up
        self.of[body] += size
        while sum(self.of.values()) > self._most:
            oldest = next(each for each, held in self.of.items() if held)
            del self.of[oldest]
            if not oldest.expired():
                oldest.reschedule(0)


READ_S: Final = 10.0
"""GitHub gives up after this time; a slower sender only takes up memory.
https://docs.github.com/webhooks/using-webhooks/best-practices-for-using-webhooks"""


async def receive_body(
    request: web.Request,
    most: int,
    within_s: float,
    bodies: BytesInFlight | None = None,
) -> bytearray:
    """Return a request's body, read for the first time.

    It is refused if it is larger than `most`, comes too slowly, has to make room for
    others, or breaks off.
    """
    bodies = bodies or BytesInFlight(most)
    too_large = f"the body is larger than {most} bytes"
    if (request.content_length or 0) > most:
        raise refusal_with(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, too_large)
    found, timer = bytearray(), asyncio.timeout(within_s)
    bodies.of[timer] = 0
    try:
        async with timer:
            async for chunk in request.content.iter_any():
                found += chunk
                if len(found) > most:
                    raise refusal_with(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, too_large)
                bodies.add(timer, len(chunk))
            return found
    except TimeoutError:
        if timer in bodies.of:
            why = f"the body did not arrive within {within_s:g} s"
            raise refusal_with(HTTPStatus.REQUEST_TIMEOUT, why) from None
        why = "too many deliveries at once: send this one again later"
        raise refusal_with(HTTPStatus.SERVICE_UNAVAILABLE, why) from None
    except web.RequestPayloadError:
        raise refusal_with(HTTPStatus.BAD_REQUEST, "the body cannot be read") from None
    finally:
        bodies.of.pop(timer, None)


def refusal_with(status: HTTPStatus, why: str) -> web.HTTPException:
    error = _AnyRefusal(
        text=json.dumps({"message": why}), content_type="application/json"
    )
    error.set_status(int(status))
    return error


class _AnyRefusal(web.HTTPException):
    status_code = 400
