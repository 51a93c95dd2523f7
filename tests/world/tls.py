"""TLS in front of a server on loopback, by an authority made for the test."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import trustme


@asynccontextmanager
async def tls_before(
    port: int, folder: Path, *names: str
) -> AsyncIterator[tuple[int, Path]]:
    """Give a port that speaks TLS, and the authority to trust for it.

    Args:
        port: of the server behind it, which speaks plainly.
        folder: where the authority's certificate goes.
        names: of the hosts that it speaks as; `localhost` if there are none.
    """
    authority = trustme.CA()
    file = folder / "authority.pem"
    authority.cert_pem.write_to_path(str(file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*(names or ("localhost",))).configure_cert(context)

    async def joined(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        back_reader, back_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pump(reader, back_writer), pump(back_reader, writer))

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
