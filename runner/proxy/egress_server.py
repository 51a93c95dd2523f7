"""Connects an agent to the hosts it may reach, and runs all of the proxy's servers.

It is an ordinary HTTP proxy: it takes CONNECT, and plain requests, one for each
connection. It does not look into a tunnel. Its own way out leads there directly, or
through a proxy of this machine's network.
https://www.rfc-editor.org/rfc/rfc9110#name-connect
"""

import asyncio
import hmac
import re
import signal
import socket
from collections.abc import Sequence
from contextlib import AsyncExitStack
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from grite import outbound
from grite.errors import BratError
from runner.proxy import proxy_protocol as protocol

CONNECT_S: Final = 30.0
_PORTS: Final = {"http": 80, "https": 443}
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def through(proxy: str, asked: "_Asked") -> Streams:
    """Connect to the proxy, and through it to the host if a tunnel is asked for."""
    url = urlsplit(proxy)
    is_tls, above = url.scheme == "https", url.port or _PORTS[url.scheme]
    reader, writer = await dialled(url.hostname or "", above, is_tls=is_tls)
    if asked.is_plain:
        return reader, writer
    name = f"{asked.name}:{asked.port}"
    shown = outbound.proxy_word(proxy)
    word = f"Proxy-Authorization: {shown}\r\n" if shown else ""
    writer.write(f"CONNECT {name} HTTP/1.1\r\nHost: {name}\r\n{word}\r\n".encode())
    try:
        async with asyncio.timeout(CONNECT_S):
            head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise OSError("the machine's own proxy does not speak HTTP") from error
    if head.split(b" ", 2)[1:2] != [b"200"]:
        writer.close()
        raise OSError(f"the machine's own proxy answered {head[:60]!r}")
    return reader, writer


async def dialled(host: str, port: int, *, is_tls: bool = False) -> Streams:
    """Connect to a host; raise an OSError if it cannot be reached in time."""
    trusted = outbound.here().authorities() if is_tls else None
    async with asyncio.timeout(CONNECT_S):
        return await asyncio.open_connection(host, port, ssl=trusted)


READ_BYTES: Final = 65_536
HEAD_S: Final = 30.0
AT_ONCE: Final = 256
"""Connections in all; more are refused."""
_WANTS_WORD: Final = HTTPStatus.PROXY_AUTHENTICATION_REQUIRED
_WORD: Final = "proxy-authorization"
_HOP: Final = ("connection:", "proxy-", "keep-alive:", "te:", "upgrade:", "host:")
"""The beginnings of headers that are meant for the proxy, or that it sets itself."""
_WORD_CHARS: Final = r"[!#$%&'*+.^`|~\w-]+"
_REQUEST: Final = re.compile(
    rf"({_WORD_CHARS}) ([^\x00-\x20\x7f]+) HTTP/1\.[01]", re.ASCII
)
_HEADER: Final = re.compile(rf"{_WORD_CHARS}:[^\x00-\x08\x0a-\x1f\x7f]*", re.ASCII)
"""Other proxies may take a tab for a blank and a lone newline for a line's end: to
them, other lines would hold another request.
https://www.rfc-editor.org/rfc/rfc9112#section-2.2
"""


class _Asked(Struct, frozen=True):
    method: str
    host: str
    port: int
    path: str  # empty: HTTPS without a tunnel, which would go there without TLS
    headers: tuple[str, ...]
    """Without headers that are only for one connection."""
    word: bytes
    """Its `Proxy-Authorization`."""

    @property
    def is_plain(self) -> bool:
        return self.method != "CONNECT"

    @property
    def where(self) -> str:
        return f"{self.host}:{self.port}"[:200]

    @property
    def name(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host


class Egress(Struct):
    """Takes one session's connections to the hosts that are listed."""

    _listed: Sequence[str]
    _teller: protocol.Teller
    _group: asyncio.TaskGroup
    _word: str
    """What each request to the proxy has to show; empty: nothing."""
    _open: set[asyncio.Task[None]] = set()

    def close(self) -> None:
        for each in self._open:
            each.cancel()

    async def serve(self, listening: socket.socket, port: int = 0) -> asyncio.Server:
        """Serve in place of a port of this machine, in whatever protocol; 0: all."""

        async def served(near: Streams) -> None:
            try:
                if port:
                    await joined(near, await dialled("127.0.0.1", port))
                else:
                    await self._proxied(near)
            except (OSError, ValueError, asyncio.IncompleteReadError):
                pass  # one side has gone, or its name is none; the other sees the end
            finally:
                near[1].close()

        def connected(
            reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            task = self._group.create_task(served((reader, writer)))
            self._open.add(task)
            task.add_done_callback(self._open.discard)

        return await asyncio.start_server(
            connected, sock=listening, limit=READ_BYTES, backlog=AT_ONCE
        )

    async def _proxied(self, near: Streams) -> None:
        reader, writer = near
        asked = await _asked(reader)
        if asked is None:
            return _no(writer, HTTPStatus.BAD_REQUEST, "This is an HTTP proxy.")
        if self._word and not hmac.compare_digest(asked.word, self._word.encode()):
            return _no(writer, _WANTS_WORD, "This is another session's proxy.")
        if len(self._open) > AT_ONCE:
            why = f"This proxy allows at most {AT_ONCE} connections at once."
            return _no(writer, HTTPStatus.SERVICE_UNAVAILABLE, why)
        if not protocol.allows_host(self._listed, asked.host, asked.port):
            self._teller.refused(f"{asked.where}, which is not listed")
            return _no(writer, HTTPStatus.FORBIDDEN, _WHY.format(asked.where))
        if not asked.path:
            return _no(writer, HTTPStatus.BAD_REQUEST, "HTTPS needs a tunnel.")
        try:
            there = await self._reached(asked)
        except (BratError, OSError, ValueError) as error:  # the last: no name at all
            why = f"brat cannot reach {asked.where}: {error}."
            return _no(writer, HTTPStatus.BAD_GATEWAY, why)
        if not asked.is_plain:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        return await joined(near, there)

    async def _reached(self, asked: _Asked) -> Streams:
        """Connect, and pass on the head of a request that opens no tunnel."""
        scheme = "http" if asked.is_plain else "https"
        proxy = outbound.here().proxy(f"{scheme}://{asked.name}:{asked.port}")
        if proxy:
            there = await through(proxy, asked)
            head = _head(asked, absolute=True, word=outbound.proxy_word(proxy))
        else:
            there = await dialled(await self._address(asked), asked.port)
            head = _head(asked)
        there[1].write(head if asked.is_plain else b"")
        return there

    async def _address(self, asked: _Asked) -> str:
        """Return a name's address; looked up once, so that it cannot change."""
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(
            asked.host, asked.port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
        )
        addresses = [str(each[4][0]) for each in found]
        if protocol.is_address(asked.host) or asked.host == protocol.LOCALHOST:
            return addresses[0]  # the address itself is listed
        for each in addresses:
            is_listed = protocol.allows_host(self._listed, each, asked.port)
            if is_listed or protocol.is_outside(each):
                return each
        leads = f"{asked.where}, which resolves to {addresses[0]}, an unlisted address"
        self._teller.refused(leads)
        raise OSError(
            f"it resolves to {addresses[0]}, which is not on the public internet; "
            "list that address too if agents may reach it"
        )


_WHY: Final = (
    "brat does not allow access to {}; list the allowed hosts in .brat/config.toml: "
    "for agents in [runner] egress, for CI in [ci] egress."
)


async def joined(one: Streams, other: Streams) -> None:
    """Pass bytes on both ways until both sides have ended, then close them."""
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(_carried(one[0], other[1]))
            group.create_task(_carried(other[0], one[1]))
    finally:
        one[1].close()
        other[1].close()


async def _carried(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while chunk := await reader.read(READ_BYTES):
            writer.write(chunk)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.close()


async def _asked(reader: asyncio.StreamReader) -> _Asked | None:
    """Read the head of a request; None: a proxy does not understand it."""
    try:
        async with asyncio.timeout(HEAD_S):
            head = await reader.readuntil(b"\r\n\r\n")
        line, *headers = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
        found = _REQUEST.fullmatch(line)
        if found is None or not all(map(_HEADER.fullmatch, headers)):
            return None
        method, target = found.groups()
        url = urlsplit(f"//{target}" if method == "CONNECT" else target)
        named = (each.partition(":") for each in headers)
        word = next((v for n, _, v in named if n.lower() == _WORD), "").strip().encode()
        if not url.hostname or (method != "CONNECT" and url.scheme not in _PORTS):
            return None
        rest = url._replace(scheme="", netloc="", fragment="").geturl() or "/"
        path = "" if url.scheme == "https" else rest
        kept = tuple(each for each in headers if not each.lower().startswith(_HOP))
        port = url.port or _PORTS.get(url.scheme, 443)
        return _Asked(method, url.hostname, port, path, kept, word)
    except (ValueError, asyncio.LimitOverrunError):
        return None


def _head(asked: _Asked, *, absolute: bool = False, word: str = "") -> bytes:
    host = asked.name
    host += "" if asked.port == _PORTS["http"] else f":{asked.port}"
    target = f"http://{host}{asked.path}" if absolute else asked.path
    ours = [f"{asked.method} {target} HTTP/1.1", f"Host: {host}", "Connection: close"]
    ours += [f"Proxy-Authorization: {word}"] if word else []
    return "\r\n".join((*ours, *asked.headers, "", "")).encode("latin-1")


def _no(writer: asyncio.StreamWriter, status: HTTPStatus, why: str) -> None:
    body = f"{why}\n".encode()
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}",
        "Content-Type: text/plain; charset=utf-8",
        f"Content-Length: {len(body)}",
        "Connection: close",
        *(('Proxy-Authenticate: Basic realm="brat"',) if status == _WANTS_WORD else ()),
    )
    writer.write("\r\n".join((*head, "", "")).encode() + body)


async def serve(told: bytes, listening: Sequence[int]) -> None:
    """Serve until the witness is gone, beginning with calls that already wait.

    What it is told is an order as JSON. The sockets are for the model, for all other
    hosts, and for each service of this machine.
    """
    order = msgspec.json.decode(told, type=protocol.ProxyOrder)
    model, *others = (socket.socket(fileno=each) for each in listening)
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    teller = protocol.Teller()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    loop.add_reader(0, ended.set)  # no other input comes, so this is its end
    async with asyncio.TaskGroup() as group, AsyncExitStack() as stack:
        if order.model is not None:
            # not for a proxy without a model
            from aiohttp.web_server import Server

            from runner.proxy.model_server import Gate, model_client
            from runner.proxy.usage_reader import UsageMeter

            client = model_client(order.model)
            await stack.enter_async_context(client)
            meter = UsageMeter(order.limits, order.price)
            gate = Gate(order.model, meter, client, teller)
            server = Server(gate.handle, auto_decompress=False, access_log=None)
            stack.push_async_callback(server.shutdown, 0.1)
            served = await loop.create_server(server, sock=model)
            stack.callback(served.close)
        if order.egress is not None:
            listed, own = order.egress, model.getsockname()[1]
            # Some programs ask a proxy for everything, their model included.
            known = (*listed, f"127.0.0.1:{own}") if order.model else listed
            shown = f"http://brat:{order.token}@" if order.token else ""
            egress = Egress(known, teller, group, outbound.proxy_word(shown))
            stack.callback(egress.close)
            world, *local = others
            stack.callback((await egress.serve(world)).close)
            # There are none where the agent has no network of its own.
            for port, each in zip(protocol.local_services(listed), local, strict=False):
                stack.callback((await egress.serve(each, port)).close)
        await ended.wait()
