"""Doors in front of servers: with TLS, and a company's proxy for tunnels.

https://www.rfc-editor.org/rfc/rfc9110#name-connect
"""

import asyncio
import ssl
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import trustme

ASKED = (
    b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n"
    b'Proxy-Authenticate: Basic realm="the company"\r\n\r\n'
)
REFUSED = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"


@dataclass
class ConnectProxy:
    """A proxy that knows where some hosts are."""

    hosts: tuple[str, ...]
    """With their ports, as clients ask for them."""
    there: int
    """The port on this machine that is behind all of them."""
    person: str
    """Name and password that it wants, with a colon between."""
    port: int = 0
    heads: list[str] = field(default_factory=list)
    """What clients sent before their tunnels."""

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Open one tunnel, or refuse it."""
        word = f"Proxy-Authorization: Basic {b64encode(self.person.encode()).decode()}"
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.heads.append(head)
            while word not in head.split("\r\n"):
                writer.write(ASKED)
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
            if head.split(" ")[:2] in [["CONNECT", host] for host in self.hosts]:
                back = await asyncio.open_connection("127.0.0.1", self.there)
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await asyncio.gather(pump(reader, back[1]), pump(back[0], writer))
            else:
                writer.write(REFUSED)
        writer.close()


@asynccontextmanager
async def connect_proxy(
    there: int, *hosts: str, person: str = "pat:made-up-pass"
) -> AsyncIterator[ConnectProxy]:
    """Serve tunnels to hosts, all of which are at a port of this machine."""
    proxy = ConnectProxy(hosts, there, person)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    async with server:
        proxy.port = server.sockets[0].getsockname()[1]
        yield proxy


@dataclass
class Behind:
    """The server behind a port that speaks TLS."""

    port: int = 0
    """0: it is not there yet."""


@asynccontextmanager
async def tls_before(
    port: int | Behind, folder: Path, *names: str
) -> AsyncIterator[tuple[int, Path]]:
    """Give a port that speaks TLS, and the authority to trust for it.

    Args:
        port: of the server behind it, which speaks plainly; or the server.
        folder: where the authority's certificate goes.
        names: of the hosts that it speaks as; `localhost` if there are none.
    """
    authority = trustme.CA()
    file = folder / "authority.pem"
    authority.cert_pem.write_to_path(str(file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*(names or ("localhost",))).configure_cert(context)
    behind = port if isinstance(port, Behind) else Behind(port)

    async def joined(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        back = await asyncio.open_connection("127.0.0.1", behind.port)
        await asyncio.gather(pump(reader, back[1]), pump(back[0], writer))

    server = await asyncio.start_server(joined, "127.0.0.1", 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1], file


async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Pass on what comes until it ends, and then end the other side."""
    with suppress(ConnectionError, ssl.SSLError):
        while data := await source.read(65_536):
            sink.write(data)
            await sink.drain()
    with suppress(ConnectionError, ssl.SSLError):
        sink.close()
        await sink.wait_closed()
