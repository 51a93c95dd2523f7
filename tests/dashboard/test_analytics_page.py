"""The page of analytics over a real log."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.dashboard.dashboard_source import LogHistory
from convoy.log.record import follow
from tests.dashboard.conftest import Opens, Visit
from tests.world.kept import Kept
from tests.world.rules import sha


@pytest.fixture
def told(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "log.git")


@pytest.fixture
async def visit(opens: Opens, told: Kept) -> AsyncIterator[Visit]:
    """Serve a log in which nothing has landed yet."""
    told.tell()
    history = LogHistory(told.path, lambda: follow(told.log, str(told.log.head())))
    async with opens(told.rules, history=history) as visit:
        yield visit


async def test_it_reads_on_as_changes_land(visit: Visit, told: Kept) -> None:
    before = await visit.text("/analytics")
    told.rules.landed(1, sha("a"))
    told.tell()
    after = await visit.text("/analytics")

    assert "No change has landed" in before
    assert "1 change landed in 1 day" in after
    assert "<title>1970-01-01: 1</title>" in after
    assert "CI time per landed change" in after
    assert "Cost per landed change" not in after  # no session told its cost
    assert 'href="/analytics" aria-current="page"' in after
