"""What a forge refuses for good is tried once a minute, and done when it may be."""

import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from stat import S_IRWXU

import pytest

from bot.loop.leased_push import REFUSED_MS
from bot.loop.loop import Loop
from bot.loop.troubles import RETRY_S
from bot.serving import bot_service
from tests.bot.hosted import at_home, settings
from tests.world.faults import BadDay, bad_day
from tests.world.forge import Town

pytestmark = pytest.mark.usefixtures("_keyed")
LABELLED = {"labels": ["brat"]}
PASSED_S = 150
STEP_S = 5
TRIES = 3
"""In the first seconds of each minute."""


class Refusing(BadDay):
    """A day on which some writes are refused, always with the same status."""

    def __init__(self, status: int, write: str) -> None:
        super().__init__(chance=0, dice=random.Random(0))  # noqa: S311  no secret
        self.status, self.write = status, write
        self.tries: Counter[str] = Counter()

    def fault(self, method: str, path: str) -> str:
        """Refuse, and count."""
        if method == "GET" or not path.endswith(self.write):
            return ""
        self.tries[path] += 1
        return str(self.status or "")


@pytest.fixture
def _keyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAT_SECRET_ANTHROPIC_API_KEY", "made-up")


@asynccontextmanager
async def served(folder: Path, day: Refusing) -> AsyncIterator[tuple[Town, Loop]]:
    async with at_home(folder) as here, bad_day(here.url, day) as proxy:
        issue = await here.issue("Fix it")
        await here.post(f"issues/{issue}/labels", LABELLED, by="alice")
        told = settings(here, token=here.tokens["bot"], roles=("mayor",))
        told = told.model_copy(update={"api_url": f"{proxy}/api/v3"})
        async with bot_service.opened(told, lambda _: None) as loop:
            yield here, loop


async def seconds(loop: Loop, number: int, *, step: int = STEP_S) -> None:
    """Let so many seconds pass by a clock that it is given, with a tick each `step`."""
    for _ in range(0, number, step):
        loop.context.clock = partial(int, loop.context.clock() + step * 1000)
        await loop.tick()


@pytest.mark.parametrize("status", [403, 404, 410, 422])
async def test_a_write_that_is_refused_is_tried_once_a_minute(
    status: int, tmp_path: Path
) -> None:
    day = Refusing(status, "/issues/1/comments")
    async with served(tmp_path, day) as (here, loop):
        await seconds(loop, PASSED_S)

        assert set(day.tries.values()) == {TRIES}
        assert f"the forge answered {status}" in str(loop.context.troubles)
        assert 1 < loop.troubles.retry_s <= loop.context.settings.sweep_s

        day.status = 0
        await seconds(loop, REFUSED_MS // 1000)
        assert len(await here.get("issues/1/comments")) == 1
        assert loop.context.troubles == {}


async def test_what_is_not_refused_goes_on_beside_it(tmp_path: Path) -> None:
    day = Refusing(403, "/issues/1/comments")
    async with served(tmp_path, day) as (here, loop):
        await seconds(loop, 5, step=1)
        issue = await here.issue("Fix that, too")
        await here.post(f"issues/{issue}/labels", LABELLED, by="alice")
        loop.wake.all()
        await seconds(loop, 5, step=1)

        assert len(await here.get(f"issues/{issue}/comments")) == 1
        assert await here.get("issues/1/comments") == []


async def test_a_push_that_a_hook_refuses_is_tried_once_a_minute(
    tmp_path: Path,
) -> None:
    tries = tmp_path / "tries"
    async with served(tmp_path, Refusing(0, "/nothing")) as (_, loop):
        (bare,) = (tmp_path / "forge").glob("repos/*/*.git")
        hook = bare / "hooks" / "update"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ncase $1 in */base) echo >>{tries}; exit 1; esac\n")
        hook.chmod(S_IRWXU)

        await seconds(loop, PASSED_S)

        assert len(tries.read_text().splitlines()) == TRIES
        assert "the remote refused refs/heads/" in loop.context.troubles["tick"]
        assert loop.troubles.retry_s > RETRY_S
        assert loop.context.mirror.state.convoys == {}

        hook.unlink()
        await seconds(loop, REFUSED_MS // 1000)
        assert loop.context.troubles == {}
        (convoy,) = loop.context.mirror.state.convoys.values()
        assert convoy.state == "active"
