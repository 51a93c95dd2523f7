"""Who takes connections of a hosted bot and gives nothing stops nobody."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import httpx
import pytest

from bot.dashboard.application import MOST_ANONYMOUS
from bot.door.webhooks import WEBHOOK_PATH
from bot.serving.host import Host, hosted
from bot.serving.hosted_dashboard import opened_dashboard
from tests.bot.door_client import headers_of, labelled
from tests.bot.hosted import SECRET
from tests.bot.serving.hosted_town import hosting, ready
from tests.world.forge import REPO, Town, until
from tests.world.patience import patient

pytestmark = [pytest.mark.timeout(180), pytest.mark.layer("landing")]


@dataclass(frozen=True)
class Service:
    host: Host
    dashboard: int

    @property
    def door(self) -> str:
        return f"http://127.0.0.1:{self.host.port}"


@asynccontextmanager
async def service(here: Town) -> AsyncIterator[Service]:
    told = hosting(
        here,
        sweep_s=60,
        dashboard_port=0,
        dashboard_url="https://brat.example",
        client_id="made-up-client",
        client_secret="made-up-client-secret",
    )
    async with (
        hosted(told, lambda _: None) as host,
        opened_dashboard(host) as dashboard,
    ):
        await until(
            lambda: all(one.loop for one in host.served.values()) and bool(host.served)
        )
        await ready(host)
        yield Service(host, dashboard)


async def answers(bot: Service) -> list[int]:
    settings = bot.host.served[REPO].settings
    repository = {"full_name": REPO, "id": settings and settings.repository_id}
    body = json.dumps(labelled(repository=repository)).encode()
    headers = headers_of(body, secret=SECRET)
    async with httpx.AsyncClient(trust_env=False, timeout=patient(20)) as client:
        healthy = await client.get(f"{bot.door}/healthz")
        taken = await client.post(
            f"{bot.door}{WEBHOOK_PATH}", content=body, headers=headers
        )
    return [healthy.status_code, taken.status_code]


async def test_eleven_hundred_streams_stop_nobody(here: Town) -> None:
    async with AsyncExitStack() as stack:
        bot = await stack.enter_async_context(service(here))
        told = []
        for _ in range(1_100):
            reader, writer = await asyncio.open_connection("127.0.0.1", bot.dashboard)
            stack.callback(writer.close)
            writer.write(f"GET /{REPO}/events HTTP/1.1\r\n".encode())
            writer.write(b"Host: brat.example\r\n\r\n")
            told.append(asyncio.ensure_future(reader.readline()))
        async with asyncio.timeout(patient(60)):
            first = await asyncio.gather(*told, return_exceptions=True)

        assert await answers(bot) == [200, 202]

    opened = [each for each in first if isinstance(each, bytes) and b" 200 " in each]
    assert 0 < len(opened) <= MOST_ANONYMOUS


async def test_six_hundred_unfinished_deliveries_stop_nobody(here: Town) -> None:
    async with AsyncExitStack() as stack:
        bot = await stack.enter_async_context(service(here))
        for _ in range(600):
            _, writer = await asyncio.open_connection("127.0.0.1", bot.host.port)
            stack.callback(writer.close)
            writer.write(
                f"POST {WEBHOOK_PATH} HTTP/1.1\r\nHost: localhost\r\n".encode()
            )
            writer.write(b"Content-Length: 1000000\r\n\r\nhalf")

        assert await answers(bot) == [200, 202]
