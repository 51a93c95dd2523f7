"""The proxy once it is called: its errand read, its web server running."""

import asyncio
import os
import signal
import socket
from contextlib import AsyncExitStack

import msgspec
from aiohttp.web_server import Server

from runner.proxy.server import Gate, session
from runner.wire import Errand, Told


def run(errand: bytes, listening: socket.socket) -> None:
    """Serve until there is nobody to serve for; takes who waits in `listening`."""
    asyncio.run(_serve(msgspec.json.decode(errand, type=Errand), listening))


async def _serve(errand: Errand, listening: socket.socket) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    loop.add_reader(0, ended.set)  # nothing else comes, so it is the end
    async with AsyncExitStack() as stack:
        if errand.model is not None:
            client = await stack.enter_async_context(session())
            gate = Gate(errand.model, errand.caps, client, _tell)
            server = Server(gate.handle, auto_decompress=False, access_log=None)
            stack.push_async_callback(server.shutdown, 0.1)
            served = await loop.create_server(server, sock=listening)
            stack.callback(served.close)
        await ended.wait()


def _tell(told: Told) -> None:
    """Say one thing to the witness."""
    os.write(1, msgspec.json.encode(told) + b"\n")
