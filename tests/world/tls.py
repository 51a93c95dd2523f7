"""A door in front of a server on loopback; it can speak TLS, and be there first."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import trustme


@dataclass
class Behind:
    """The server behind a door."""

    port: int = 0
    """0: it is not there yet."""


@asynccontextmanager
async def door_before(
    behind: Behind, context: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """Give a port that passes on what comes, over TLS if there is a context."""

    async def joined(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        back = await asyncio.open_connection("127.0.0.1", behind.port)
        await asyncio.gather(pump(reader, back[1]), pump(back[0], writer))

    server = await asyncio.start_server(joined, "127.0.0.1", 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1]


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
    async with door_before(behind, context) as secure:
        yield secure, file


async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Pass on what comes until it ends, and then end the other side."""
    with suppress(ConnectionError, ssl.SSLError):
        while data := await source.read(65_536):
            sink.write(data)
            await sink.drain()
    with suppress(ConnectionError, ssl.SSLError):
        sink.close()
        await sink.wait_closed()
