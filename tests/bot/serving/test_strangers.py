"""Who takes connections of a hosted bot and gives nothing stops nobody."""

import asyncio
import json
from contextlib import AsyncExitStack

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


async def answers(host: Host) -> list[int]:
    settings = host.served[REPO].settings
    repository = {"full_name": REPO, "id": settings and settings.repository_id}
    body = json.dumps(labelled(repository=repository)).encode()
    url = f"http://127.0.0.1:{host.port}"
    async with httpx.AsyncClient(
        base_url=url, trust_env=False, timeout=patient(20)
    ) as client:
        healthy = await client.get("/healthz")
        headers = headers_of(body, secret=SECRET)
        taken = await client.post(WEBHOOK_PATH, content=body, headers=headers)
    return [healthy.status_code, taken.status_code]


async def test_many_streams_and_unfinished_deliveries_stop_nobody(here: Town) -> None:
    told = hosting(
        here,
        sweep_s=60,
        dashboard_port=0,
        dashboard_url="https://brat.example",
        client_id="made-up-client",
        client_secret="made-up-client-secret",
    )
    stream = f"GET /{REPO}/events HTTP/1.1\r\nHost: brat.example\r\n\r\n"
    half = f"POST {WEBHOOK_PATH} HTTP/1.1\r\nHost: localhost\r\n"
    half += "Content-Length: 1000000\r\n\r\nhalf"
    async with (
        hosted(told, lambda _: None) as host,
        opened_dashboard(host) as dashboard,
    ):
        served = host.served
        await until(lambda: served and all(one.loop for one in served.values()))
        await ready(host)
        for port, sent, count in ((dashboard, stream, 1_100), (host.port, half, 600)):
            first = []
            async with AsyncExitStack() as stack:
                for _ in range(count):
                    reader, writer = await asyncio.open_connection("127.0.0.1", port)
                    stack.callback(writer.close)
                    writer.write(sent.encode())
                    first.append(asyncio.ensure_future(reader.readline()))
                if port == dashboard:
                    async with asyncio.timeout(patient(60)):
                        lines = await asyncio.gather(*first, return_exceptions=True)
                    opened = [
                        e for e in lines if isinstance(e, bytes) and b" 200 " in e
                    ]
                    assert 0 < len(opened) <= MOST_ANONYMOUS

                assert await answers(host) == [200, 202]
