"""A proxy in front of the forge whose connections can be cut.

The forge names itself in redirects, so its port is replaced by ours in what it says; a
client would not send its token to another port.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

CHUNK: Final = 65_536


class CutConnections:
    """The connections that are open now."""

    def __init__(self, port: int) -> None:
        """Lead connections to a port of this machine."""
        self._port = self.own = port
        self._open: set[asyncio.StreamWriter] = set()
        self.cuts = 0

    def cut(self) -> None:
        """Break all connections that are open."""
        self.cuts += len(self._open) > 0
        for each in self._open:
            each.transport.abort()

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Copy one connection in both directions until it ends."""
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._port)
        except OSError:
            writer.transport.abort()
            return
        both = {writer, back}
        self._open |= both
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_copy(reader, back, {}))
                group.create_task(_copy(there, writer, self._named()))
        except asyncio.CancelledError:
            pass  # the soak has ended; asyncio's server would report it as a fault
        finally:
            self._open -= both
            for each in both:
                each.close()

    def _named(self) -> dict[bytes, bytes]:
        """Return the forge's address and ours, which is as long."""
        return {f":{self._port}/".encode(): f":{self.own}/".encode()}


async def _copy(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    named: dict[bytes, bytes],
) -> None:
    with suppress(OSError):
        while chunk := await reader.read(CHUNK):
            for theirs, ours in named.items():
                chunk = chunk.replace(theirs, ours)
            writer.write(chunk)
            await writer.drain()
        writer.write_eof()


@asynccontextmanager
async def before(port: int) -> AsyncIterator[tuple[CutConnections, str]]:
    """Serve the proxy; give it and its address."""
    proxy = CutConnections(port)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.own = server.sockets[0].getsockname()[1]
    try:
        yield proxy, f"http://127.0.0.1:{proxy.own}"
    finally:
        proxy.cut()
        server.close()
