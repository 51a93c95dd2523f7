"""Serves an application within limits that hold before any of its own code runs."""

import asyncio
import errno
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from bot.door.client_address import CLIENT, client_of
from bot.door.connection_limits import Connection, Connections, Limits
from bot.door.refusal_log import RefusalLog
from bot.settings.origins import Origins
from grite.errors import BratError

BUFFER_BYTES: Final = 16_384
"""How much of a body waits unread for its handler: 32 kB for each connection."""
BACKLOG: Final = 128
LINGER_S: Final = 2.0
"""How long the rest of a refused body is thrown away before the connection closes."""


@asynccontextmanager
async def listening(
    app: web.Application, host: str, port: int, *, limits: Limits | None = None
) -> AsyncIterator[int]:
    """Serve an application and give its port; what is raised: see `listener_at`.

    Args:
        app: the application, which is used once.
        host: the address to listen on.
        port: the port; 0 chooses one.
        limits: what connections may take; None: the usual limits.
    """
    async with serving_on(listener_at(host, port), app, limits=limits) as bound:
        yield bound


@asynccontextmanager
async def serving_on(
    listener: socket.socket,
    app: web.Application,
    *,
    origins: Origins | None = None,
    limits: Limits | None = None,
) -> AsyncIterator[int]:
    """Serve an application on a socket that listens, and give its port.

    Bodies are never decoded: a decoded body could fill the memory.

    Args:
        listener: the socket, which is closed at the end.
        app: the application, which is used once.
        origins: how many of our proxies are in front; None: none.
        limits: what connections may take; None: the usual limits.
    """
    refusals = RefusalLog()
    connections = Connections(limits or Limits(), refusals)
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
    """Serve an application to a front process, on a Unix socket.

    Args:
        app: the application, which is used once.
        path: where the socket is made; only its owner may connect.
        origins: what the front process has; it stands before us as one proxy more.
    """
    nearer = replace(origins, proxies=origins.proxies + 1)

    @web.middleware
    async def named(request: web.Request, handler: Handler) -> web.StreamResponse:
        request[CLIENT] = client_of(request, nearer)
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
        request[CLIENT] = client_of(request, origins)
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

    Raises:
        HTTPUnsupportedMediaType: GitHub and browsers never encode one.
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
