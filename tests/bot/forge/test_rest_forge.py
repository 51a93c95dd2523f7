"""The client against the local forge, over real HTTP, with GitHub's limits."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from bot.forge.pace import GITHUB_CONTENT, Pace, Pacing
from bot.forge.rest import Rest
from brat.forge import Forge
from tests.world.forge import REPO, Town, make_source, settle_in, town
from tests.world.github_forge.rate_limits import limit
from tests.world.hand import NOON, HandTime

ISSUES = f"/repos/{REPO}/issues"


@pytest.fixture
async def here(tmp_path: Path, hand: HandTime) -> AsyncIterator[Town]:
    """Give a forge that counts as GitHub does, by the time of our hand."""

    def clock() -> datetime:
        return datetime.fromtimestamp(NOON + hand.passed, UTC)

    with Forge(tmp_path / "forge", clock=clock) as forge:
        tokens = settle_in(forge, make_source(tmp_path / "source"))
        limit(forge.folder)
        async with town(forge, tokens, tmp_path) as served:
            yield served


def client(here: Town, hand: HandTime, how: Pacing, by: str = "bot") -> Rest:
    pace = Pace(how, hand.time)
    token = here.tokens[by]
    return Rest(here.client, api_url=f"{here.url}/api/v3", token=token, pace=pace)


def titles(here: Town) -> list[str]:
    return sorted(issue.title for issue in here.forge.store.issues.all())


async def test_in_haste_the_forge_refuses_and_nothing_is_lost_or_doubled(
    here: Town, hand: HandTime
) -> None:
    rest = client(here, hand, Pacing(write_wait_s=120))

    async with asyncio.TaskGroup() as group:
        for number in range(100):
            body = {"title": f"{number:03}"}
            group.create_task(rest.write("POST", ISSUES, body))

    assert titles(here) == [f"{number:03}" for number in range(100)]
    assert 55 <= hand.passed <= 120


async def test_at_githubs_pace_the_forge_never_has_to_refuse(
    here: Town, hand: HandTime
) -> None:
    refused = []

    async def note(answer: httpx.Response) -> None:
        refused.append(answer.status_code == 403)

    here.client.event_hooks = {"response": [note]}
    how = Pacing(write_gap_s=0.1, content=GITHUB_CONTENT, write_wait_s=4000)
    rest = client(here, hand, how)

    for number in range(200):
        await rest.write("POST", ISSUES, {"title": f"{number:03}"})

    assert (len(refused), any(refused)) == (200, False)
    assert len(titles(here)) == 200
