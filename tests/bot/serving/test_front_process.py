"""What strangers reach are processes of their own, and none stops another."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import httpx
import psutil
import pytest

from bot.dashboard.application import MOST_ANONYMOUS
from bot.door.webhooks import WEBHOOK_PATH
from bot.serving.host import Host
from bot.serving.hosted_dashboard import opened_dashboard
from bot.serving.hosted_service import PROGRAM, hosted
from tests.bot.door_client import GUID, labelled, signature
from tests.bot.serving.hosted_town import SECRET, hosting, ready
from tests.world.forge import REPO, Town, until
from tests.world.patience import patient

pytestmark = [pytest.mark.timeout(180), pytest.mark.layer("landing")]

NAMES = {"Host": "brat.example"}
DELIVER = """
import sys, urllib.request
url, signature, body = sys.argv[1:]
headers = {"X-Hub-Signature-256": signature, "X-GitHub-Event": "issues",
           "X-GitHub-Delivery": "GUID", "Content-Type": "application/json"}
asked = urllib.request.Request(url, body.encode(), headers)
print(urllib.request.urlopen(asked, timeout=600).read().decode())
""".replace("GUID", GUID)

THANKED = '{"message": "thank you"}'


@dataclass(frozen=True)
class Service:
    host: Host
    dashboard: int
    lines: list[str]

    @property
    def door(self) -> str:
        return f"http://127.0.0.1:{self.host.port}"

    def fronts(self) -> list[psutil.Process]:
        """Return the front processes, the door's first."""
        children = psutil.Process().children()
        children = [each for each in children if each.status() != psutil.STATUS_ZOMBIE]
        found = [each for each in children if PROGRAM in each.cmdline()]
        return sorted(found, key=lambda each: each.create_time())


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
    lines: list[str] = []
    async with hosted(told, lines.append) as host, opened_dashboard(host) as dashboard:

        async def open_() -> bool:
            return all(one.loop for one in host.served.values()) and bool(host.served)

        await until(open_, deadline_s=patient(60))
        await ready(host)
        yield Service(host, dashboard, lines)


def delivered(bot: Service) -> str:
    """Deliver from another process, and wait for it without the event loop."""
    place = bot.host.place_of(REPO)
    assert place is not None
    repository = {"full_name": REPO, "id": place.repository_id}
    body = json.dumps(labelled(repository=repository))
    argv = (bot.door + WEBHOOK_PATH, signature(body.encode(), SECRET), body)
    command = [sys.executable, "-I", "-c", DELIVER, *argv]
    return subprocess.check_output(command, text=True).strip()


async def test_a_bot_that_is_busy_takes_deliveries_all_the_same(here: Town) -> None:
    async with service(here) as bot:
        answered = delivered(bot)  # our event loop runs nothing meanwhile

        assert answered == THANKED


async def test_a_dashboard_that_hangs_does_not_stop_the_door(here: Town) -> None:
    async with (
        service(here) as bot,
        httpx.AsyncClient(trust_env=False, timeout=patient(20)) as client,
    ):
        door, dashboard = bot.fronts()
        dashboard.send_signal(signal.SIGSTOP)
        try:
            answer = await client.get(f"{bot.door}/healthz")
            assert (answer.status_code, await ready(bot.host)) == (200, {"ok": True})
        finally:
            dashboard.send_signal(signal.SIGCONT)
        door.send_signal(signal.SIGSTOP)
        try:
            url = f"http://127.0.0.1:{bot.dashboard}/"
            assert (await client.get(url, headers=NAMES)).status_code == 200
        finally:
            door.send_signal(signal.SIGCONT)


async def test_a_door_that_dies_is_started_again_and_loses_no_connection(
    here: Town,
) -> None:
    async with service(here) as bot:
        killed = bot.fronts()[0]
        killed.kill()

        async with httpx.AsyncClient(trust_env=False, timeout=patient(60)) as client:
            answer = await client.get(f"{bot.door}/version")
        await ready(bot.host)

        assert answer.status_code == 200
        assert killed.pid not in [each.pid for each in bot.fronts()]
        assert "the process of the door ended: it is started again" in bot.lines
        assert await asyncio.to_thread(delivered, bot) == THANKED


async def test_eleven_hundred_streams_stop_nobody(here: Town) -> None:
    """One process served both: the door answered nobody."""
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

        assert await asyncio.to_thread(delivered, bot) == THANKED

    opened = [each for each in first if isinstance(each, bytes) and b" 200 " in each]
    assert 0 < len(opened) <= MOST_ANONYMOUS


async def test_the_fronts_hold_no_key_and_end_with_the_bot(
    here: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRAT_CLIENT_SECRET", "made-up-secret-in-the-environment")
    async with service(here) as bot:
        fronts = bot.fronts()
        held = [f"{each.environ()} {each.cmdline()}" for each in fronts]

    assert len(fronts) == 2
    assert not any("secret" in each.lower() for each in held)
    assert not any(each.is_running() for each in fronts)
