"""Pages over a real log: what people decided, and what landed when."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.dashboard.dashboard_source import LogHistory
from convoy.events.people_events import ConvoyPaused, TaskTold
from convoy.events.plan_events import TaskAdded
from convoy.log.record import follow
from convoy.rules.people import BlockTask, DropTask
from convoy.rules.retries import RetryTask
from convoy.views.history import (
    CONVOYS_KEPT,
    MOST_DECISIONS,
    DecisionHistory,
)
from tests.dashboard.conftest import opens
from tests.world.kept import Kept
from tests.world.rules import NAME, sha, spec


@pytest.fixture
def told(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "log.git")


def history_of(told: Kept) -> LogHistory:
    return LogHistory(told.path, lambda: follow(told.log, str(told.log.head())))


async def test_analytics_read_on_as_changes_land(told: Kept) -> None:
    async with opens(told.rules, history=history_of(told)) as visit:
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


async def test_the_newest_decision_comes_first(told: Kept) -> None:
    told.rules.do(
        TaskTold(convoy=NAME, task=1, by="bea", text="Keep <b>names</b>."),
        BlockTask(convoy=NAME, task=1, why="no CI"),
        RetryTask(convoy=NAME, task=1, by="dan"),
        BlockTask(convoy=NAME, task=1, why="stopped by fay", by="fay"),
        ConvoyPaused(convoy=NAME, by="<i>eve</i>"),
        DropTask(convoy=NAME, task=1, why="dropped by gus", by="gus"),
    )
    told.tell()
    async with opens(told.rules, history=history_of(told)) as visit:
        page = await visit.text(f"/convoys/{NAME}")

    _, _, shown = page.partition('id="decisions"')
    who = ["gus", "&lt;i&gt;eve&lt;/i&gt;", "fay", "dan", "bea"]
    found = [shown.index(f">{by} (write), <time") for by in who]
    assert found == sorted(found)
    assert shown.count(" (write), <time") == len(who) + 1  # who asked for it all
    assert "Keep &lt;b&gt;names" in shown


def test_the_newest_of_what_people_decided_are_kept() -> None:
    history = DecisionHistory()
    for at in range(MOST_DECISIONS + 5):
        history.read(at, ConvoyPaused(convoy="old", by="eve"))
    kept = history.of("old")
    for number in range(CONVOYS_KEPT):
        history.read(0, ConvoyPaused(convoy=f"c-{number}", by="eve"))

    assert (len(kept), kept[0].at) == (MOST_DECISIONS, MOST_DECISIONS + 4)
    assert history.of("old") == ()
    assert len(history.of("c-0")) == 1

    # what a role did is no person's decision
    added = TaskAdded(convoy="c", spec=spec(2), by="the refinery")
    for fact in (added, replace(added, by="eve")):
        history.read(0, fact)

    assert [each.by for each in history.of("c")] == ["eve"]
    assert added.sentence() == "The refinery added task 2."
