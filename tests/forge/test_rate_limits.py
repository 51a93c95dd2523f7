"""Limits as GitHub documents them, by a clock that the test moves."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

import pytest

from brat.forge import Forge
from tests.world.forge import Town, make_source, settle_in, town
from tests.world.github_forge.rate_limits import (
    Allowance,
    Limiting,
    limit,
)

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        """Begin somewhere."""
        self.now = START

    def __call__(self) -> datetime:
        """Return the time."""
        return self.now

    def move(self, seconds: float) -> None:
        """Let time go by."""
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def slow(tmp_path: Path, clock: Clock) -> AsyncIterator[Town]:
    with Forge(tmp_path / "forge", clock=clock) as forge:
        tokens = settle_in(forge, make_source(tmp_path / "source"))
        async with town(forge, tokens, tmp_path) as served:
            yield served


@pytest.mark.parametrize("status", get_args(Limiting))
async def test_eighty_things_are_written_a_minute(
    slow: Town, clock: Clock, status: Limiting
) -> None:
    limit(slow.forge.folder, Allowance(status=status))
    for count in range(80):
        await slow.post("issues", {"title": f"{count}"})
        clock.move(0.5)

    refused = await slow.ask("POST", "issues", {"title": "x"})
    read = await slow.ask("GET", "issues")
    other = await slow.ask("POST", "issues", {"title": "x"}, by="alice")

    assert refused.status_code == status
    assert "secondary rate limit" in refused.json()["message"]
    assert (read.status_code, other.status_code) == (200, 201)
    clock.move(int(refused.headers["Retry-After"]))
    assert (await slow.ask("POST", "issues", {"title": "y"})).status_code == 201


async def test_a_write_counts_five_points_and_a_read_one(
    slow: Town, clock: Clock
) -> None:
    limit(slow.forge.folder, Allowance(points_a_minute=9))
    number = await slow.issue(by="bot")
    for _ in range(4):
        await slow.get(f"issues/{number}")

    refused = await slow.ask("GET", f"issues/{number}")

    assert refused.status_code == 403
    assert "wait a few minutes" in refused.json()["message"]
    clock.move(61)
    assert (await slow.ask("GET", f"issues/{number}")).status_code == 200
