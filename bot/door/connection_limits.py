"""Bounds a server's connections: how many, from one client, and how long unused.

aiohttp has one deadline for idle connections and none for the first request's head, and
no limit: https://docs.aiohttp.org/en/stable/web_reference.html#aiohttp.web.AppRunner.
"""

import asyncio
import resource
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

from aiohttp import web

from bot.door.client_address import client_at
from bot.door.refusal_log import RefusalLog


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one server's connections may take."""

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

    def __init__(self, limits: Limits, refusals: RefusalLog) -> None:
        """Hold to `limits`, and log what is refused."""
        self.limits = limits
        self._refusals = refusals
        self._open: dict[asyncio.BaseTransport, Connection] = {}
        """Those unused for the longest first."""

    def __len__(self) -> int:
        """Return how many are open."""
        return len(self._open)

    @contextmanager
    def handling(self, request: web.BaseRequest) -> Iterator[None]:
        """Keep a request's connection for as long as the request is handled."""
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
    """One connection, in front of aiohttp's own protocol."""

    def __init__(self, inner: asyncio.Protocol, all_of_them: Connections) -> None:
        """Pass on to `inner` what comes in."""
        self._inner = inner
        self._all = all_of_them
        self._transport: asyncio.Transport | None = None
        self._head: asyncio.TimerHandle | None = None
        self.handles = 0
        """How many requests are being handled."""
        self.client = ""

    def begun(self) -> None:
        """Note that a request's head has come whole."""
        self.handles += 1
        if self._head is not None:
            self._head.cancel()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Admit the connection, or close it."""
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
        """Free the connection's place."""
        if self._transport is None:
            return
        if self._head is not None:
            self._head.cancel()
        self._all.forget(self._transport)
        self._inner.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Pass on what came."""
        if self._transport is not None:
            self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        """Pass on that no more comes."""
        return self._inner.eof_received() if self._transport is not None else None

    def pause_writing(self) -> None:
        """Pass on that the client does not read."""
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """Pass on that the client reads again."""
        self._inner.resume_writing()


def _drop_when_unread(transport: asyncio.Transport, seconds: float) -> None:
    """Let the kernel drop a connection whose client reads nothing for so long.

    https://man7.org/linux/man-pages/man7/tcp.7.html (TCP_USER_TIMEOUT)
    """
    option = getattr(socket, "TCP_USER_TIMEOUT", None)  # Linux only
    own = transport.get_extra_info("socket")
    if option is not None and own is not None and own.family != socket.AF_UNIX:
        own.setsockopt(socket.IPPROTO_TCP, option, int(seconds * 1000))
