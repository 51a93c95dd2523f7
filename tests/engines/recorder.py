"""Stands between the key proxy and a vendor, and keeps what the vendor is asked."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from aiohttp import ClientSession, ClientTimeout, web

from tests.world.patience import patient

START_S = patient(20)


@dataclass(frozen=True)
class Recorded:
    method: str
    path: str
    headers: frozenset[str]
    body: bytes


@dataclass
class Recorder:
    upstream: str
    requests: list[Recorded] = field(default_factory=list)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        names = frozenset(name.lower() for name in request.headers)
        self.requests.append(Recorded(request.method, request.path_qs, names, body))
        waits = ClientTimeout(total=None)
        async with (
            ClientSession(timeout=waits) as session,
            session.request(
                request.method, self.upstream + request.path_qs, data=body or None
            ) as answer,
        ):
            kind = answer.headers.get("Content-Type", "text/plain")
            response = web.StreamResponse(
                status=answer.status, headers={"Content-Type": kind}
            )
            await response.prepare(request)
            async for chunk in answer.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
            return response


@contextmanager
def recording(upstream: str) -> Iterator[tuple[Recorder, str]]:
    """Serve on loopback in a thread; give the recorder and its address."""
    recorder = Recorder(upstream)
    loop, ready, ports = asyncio.new_event_loop(), threading.Event(), list[int]()

    async def serve() -> None:
        server = web.Server(recorder.handle, access_log=None)
        listening = await loop.create_server(server, "127.0.0.1", 0)
        ports.append(listening.sockets[0].getsockname()[1])
        ready.set()
        await ended.wait()
        listening.close()
        await server.shutdown(0.1)

    ended = asyncio.Event()
    thread = threading.Thread(
        target=loop.run_until_complete, args=(serve(),), name="recorder"
    )
    thread.start()
    try:
        assert ready.wait(START_S)
        yield recorder, f"http://127.0.0.1:{ports[0]}"
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(START_S)
        loop.close()
