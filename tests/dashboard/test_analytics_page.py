"""The page of analytics over a real log, and its table."""

import csv
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.dashboard.charts import HEIGHT, WIDTH, bars
from bot.dashboard.log_history import LogHistory
from convoy.log.following import follow
from tests.brat.telling import Telling
from tests.dashboard.conftest import Opens, Visit
from tests.world import browser as browsers
from tests.world.browser import PROGRAM
from tests.world.rules import NAME, sha


@pytest.fixture
def told(tmp_path: Path) -> Telling:
    return Telling(tmp_path / "log.git")


@pytest.fixture
async def visit(opens: Opens, told: Telling) -> AsyncIterator[Visit]:
    """Serve a log in which nothing has landed yet."""
    told.tell()
    history = LogHistory(told.path, lambda: follow(told.log, str(told.log.head())))
    async with opens(told.rules, history=history) as visit:
        yield visit


async def test_it_reads_on_as_changes_land(visit: Visit, told: Telling) -> None:
    before = await visit.text("/analytics")
    told.rules.landed(1, sha("a"))
    told.tell()
    after = await visit.text("/analytics")
    table = list(csv.DictReader((await visit.text("/analytics.csv")).splitlines()))

    assert "no change has landed" in before
    assert "1 change landed in 1 day" in after
    assert "<title>1970-01-01: 1</title>" in after
    assert [(row["convoy"], row["task"], row["end"]) for row in table] == [
        (NAME, "1", "landed")
    ]
    assert 'href="/analytics" aria-current="page"' in after


async def test_a_dashboard_without_the_log_does_not_offer_it(
    opens: Opens, told: Telling
) -> None:
    async with opens(told.rules) as visit:
        first = await visit.text("/")
        answers = [
            await visit.http.get(path) for path in ("/analytics", "/analytics.csv")
        ]

    assert "/analytics" not in first
    assert [each.status_code for each in answers] == [404, 404]


@pytest.mark.needs(PROGRAM, "npm")
async def test_nobody_is_kept_from_reading_it(visit: Visit, told: Telling) -> None:
    told.rules.landed(1, sha("a"))
    told.tell()
    async with browsers.launched() as browser, browsers.tab(browser) as tab:
        await tab.page.goto(f"{visit.url}/analytics")
        assert await tab.faults() == []


def test_bars_fill_the_chart_and_never_more() -> None:
    drawn = bars([(str(day), day) for day in range(400)])

    assert max(each.height for each in drawn) == HEIGHT
    assert all(each.x + each.width <= WIDTH for each in drawn)
    assert all(each.y + each.height == pytest.approx(HEIGHT) for each in drawn)
    assert bars([]) == ()
    assert [each.height for each in bars([("a", 0)])] == [0]
