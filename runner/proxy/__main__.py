"""`python -I -m runner.proxy`: serve one session's calls of its model, on loopback.

Its errand is one line of JSON on its standard input (`runner.wire.Errand`), what it has
to tell are lines on its standard output. It ends when its input does, so that it never
outlives its witness, or on SIGTERM.
"""

import asyncio
import os
import signal
import sys
from contextlib import AsyncExitStack

import msgspec
from aiohttp import web

from runner.proxy.server import Gate, session
from runner.seal import seal
from runner.wire import Errand, Ready, Told

_HOST = "127.0.0.1"


def tell(told: Told) -> None:
    """Say one thing to the witness."""
    os.write(1, msgspec.json.encode(told) + b"\n")


async def serve(errand: Errand) -> None:
    """Serve until there is nobody to serve for."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    loop.add_reader(0, ended.set)  # nothing else comes, so it is the end
    async with AsyncExitStack() as stack:
        url = ""
        if errand.model is not None:
            client = await stack.enter_async_context(session())
            gate = Gate(errand.model, errand.caps, client, tell)
            server = web.Server(gate.handle, auto_decompress=False, access_log=None)
            stack.push_async_callback(server.shutdown, 0.1)
            listening = await loop.create_server(server, _HOST, 0)
            stack.callback(listening.close)
            host, port = listening.sockets[0].getsockname()
            url = f"http://{host}:{port}"
        tell(Ready(url=url))
        await ended.wait()


def main() -> int:
    """Read the errand, close our memory to others, serve."""
    line = sys.stdin.buffer.readline()
    if not line:
        return 0  # the witness has gone
    errand = msgspec.json.decode(line, type=Errand)
    kept = dict(os.environ)  # noqa: TID251  the machine's own way out: see runner.gateway
    seal(os.defpath)
    os.environ.update(kept)  # noqa: TID251  where none but us can read it
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the witness decides
    asyncio.run(serve(errand))
    return 0


if __name__ == "__main__":
    sys.exit(main())
