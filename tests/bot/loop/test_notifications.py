"""A webhook is told once what waits or has landed, and only in plain text."""

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.settings.bot_settings import Settings
from convoy.model.work import Intent
from convoy.rules.people import BlockTask, FailConvoy
from tests.bot.room import NAME, Room, room
from tests.world.cases import looped
from tests.world.layers import sampled
from tests.world.receiver import Receiver, receiving

pytestmark = pytest.mark.layer("landing")

TOLD = '[notify]\non = ["intervention", "completion"]\n'
WHY = "no CI <!channel> & <http://evil.example|here>"


@pytest.fixture
async def webhook(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Receiver]:
    async with receiving() as receiver:
        receiver.status = 200
        monkeypatch.setenv("BRAT_NOTIFY_URL", receiver.url)
        yield receiver


@asynccontextmanager
async def blocked(folder: Path, config: str = TOLD) -> AsyncIterator[Room]:
    """A room whose first task is blocked; the bot has not looked since."""
    async with room(folder, config) as here:
        await here.do(BlockTask(convoy=NAME, task=1, why=WHY))
        yield here


def texts(webhook: Receiver) -> list[str]:
    return [json.loads(one.body)["text"] for one in webhook.came]


def owed(here: Room) -> list[Intent]:
    intents = here.state.intents.values()
    return [intent for intent in intents if intent.kind == "notify"]


async def test_what_waits_is_told_once(tmp_path: Path, webhook: Receiver) -> None:
    async with blocked(tmp_path) as here:
        for _ in range(3):
            await here.loop.tick()
        left = owed(here)

    [said] = texts(webhook)
    assert said.startswith(f"you/app#1 {NAME} is waiting for a person:\n- task 1, ")
    assert said.endswith(
        "no CI &lt;!channel&gt; &amp; &lt;http://evil.example|here&gt;"
    )
    assert left == []


async def test_a_convoy_that_failed_is_told(tmp_path: Path, webhook: Receiver) -> None:
    async with room(tmp_path, TOLD) as here:
        await here.do(FailConvoy(convoy=NAME, why="the base is gone"))
        await here.loop.tick()

    [said] = texts(webhook)
    assert said.endswith("- the convoy failed: the base is gone")


@pytest.mark.parametrize("config", ["", '[notify]\non = ["completion"]\n'])
async def test_who_did_not_ask_is_told_nothing(
    tmp_path: Path, webhook: Receiver, config: str
) -> None:
    async with blocked(tmp_path, config) as here:
        await here.loop.tick()

    assert webhook.came == []


async def test_without_an_address_nothing_stays_owed(tmp_path: Path) -> None:
    async with blocked(tmp_path) as here:
        await here.loop.tick()
        left = owed(here)

    assert left == []


async def test_what_did_not_arrive_is_tried_again_later(
    tmp_path: Path, webhook: Receiver
) -> None:
    webhook.status = 503
    async with blocked(tmp_path) as here:
        context = here.context
        await here.loop.tick()
        await here.loop.tick()
        early = len(webhook.came)
        waiting = owed(here)
        trouble = " ".join(context.troubles.values())
        webhook.status = 200
        later = context.clock() + 60_000
        context.clock = lambda: later
        await here.loop.tick()
        left = owed(here)

    assert (early, len(webhook.came)) == (1, 2)
    assert (len(waiting), left) == (1, [])
    assert "the webhook returned 503; brat will try again later" in trouble
    assert "/hook" not in trouble  # its address is a secret


@pytest.mark.parametrize(
    ("status", "tries"),
    sampled([(404, 1), (302, 1), (503, 5), (429, 5)], [(302, 1), (503, 5)]),
)
async def test_what_never_arrives_is_given_up(
    tmp_path: Path,
    webhook: Receiver,
    caplog: pytest.LogCaptureFixture,
    status: int,
    tries: int,
) -> None:
    webhook.status = status
    async with blocked(tmp_path) as here:
        context = here.context
        with caplog.at_level(logging.WARNING):
            for hour in range(8):
                then = context.clock() + hour * 3_600_000
                context.clock = lambda then=then: then  # type: ignore[misc]
                await here.loop.tick()
        left = owed(here)

    assert len(webhook.came) == tries
    assert left == []
    assert f"brat gave up, because the webhook returned {status}" in caplog.text


@looped(
    ("http://hooks.example/x", (), "use an address that begins with https://"),
    ("ftp://hooks.example/x", (), "use an address that begins with https://"),
    ("https:///x", (), "use an address that begins with https://"),
    (
        "https://other.example/x",
        ("hooks.slack.com",),
        "its host must be one of notify_hosts",
    ),
)
def test_an_address_that_may_not_be_is_refused_unsaid(
    url: str,
    hosts: tuple[str, ...],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BRAT_NOTIFY_URL", url)
    with pytest.raises(ValueError, match=why) as refused:
        Settings(
            repository="ann/app",
            api_url="https://api.github.com",
            git_url="https://github.com",
            token="t",
            secret="s" * 16,
            folder=tmp_path,
            notify_hosts=hosts,
        )

    assert "BRAT_NOTIFY_URL: " in str(refused.value)
    assert "/x" not in refused.value.errors(include_input=False)[0]["msg"]  # type: ignore[attr-defined]
