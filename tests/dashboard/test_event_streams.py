"""Open event streams stop neither the dashboard nor one another."""

import asyncio
from contextlib import AsyncExitStack

import httpx

from bot.dashboard.event_streams import ANONYMOUS
from tests.dashboard.conftest import TOKEN, Opens
from tests.world.rules import Rules


async def test_strangers_streams_are_bounded_and_keep_nobody_out(opens: Opens) -> None:
    async with AsyncExitStack() as stack:
        visit = await stack.enter_async_context(opens(Rules()))
        url = httpx.URL(visit.url)

        async def status(more: str = "") -> int:
            reader, writer = await asyncio.open_connection(url.host, url.port)
            stack.callback(writer.close)
            writer.write(
                f"GET /events HTTP/1.1\r\nHost: localhost\r\n{more}\r\n".encode()
            )
            return int((await reader.readline()).split()[1])

        told = [await status() for _ in range(ANONYMOUS + 20)]

        assert told == [200] * ANONYMOUS + [503] * 20
        assert await status(f"Authorization: Bearer {TOKEN}\r\n") == 200
        answer = await visit.http.get("/events")
        assert answer.headers["Retry-After"] == "60"
        assert "Too many pages are open" in answer.text
        await visit.text("/")
