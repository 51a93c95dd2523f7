"""A convoy's page as it was: each step of its log, by a slider or without scripts."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import expect

from bot.dashboard.dashboard_source import LogPast
from tests.brat.telling import Telling
from tests.dashboard.conftest import Opens, Visit
from tests.world import browser as browsers
from tests.world.browser import PROGRAM
from tests.world.rules import NAME, sha

REPLAY = f"/convoys/{NAME}/replay"


@pytest.fixture
async def visit(opens: Opens, tmp_path: Path) -> AsyncIterator[Visit]:
    """Serve a convoy whose only task was planned, was started, and has landed."""
    told = Telling(tmp_path / "log.git")
    told.tell()
    told.rules.started(1)
    told.tell()
    told.rules.accepted(1, sha("a")).offered(1, sha("a"), sha("0"))
    told.rules.landed_as(1, sha("a"))
    told.tell()
    async with opens(told.rules, past=LogPast(told.path, told.log.head)) as visit:
        yield visit


async def test_each_step_shows_the_convoy_as_it_was(visit: Visit) -> None:
    pages = [await visit.text(f"{REPLAY}?step={step}") for step in (1, 2, 3)]

    states = ("queued", "running", "merged")
    for page, state in zip(pages, states, strict=True):
        assert f'<span class="badge {state}">{state}</span></td>' in page
    assert "step 2 of 3" in pages[1]
    assert "<li>Task 1, attempt 1, starts from 0000000000.</li>" in pages[1]
    assert 'href="/convoys/fix-7/replay?step=1">Replay' in await visit.text(
        f"/convoys/{NAME}"
    )


@pytest.mark.parametrize("step", ["", "0", "-1", "99", "1e3", "²", "9" * 4000])
async def test_any_other_step_is_the_last_one(visit: Visit, step: str) -> None:
    assert "step 3 of 3" in await visit.text(f"{REPLAY}?step={step}")


async def test_what_is_past_has_no_buttons(visit: Visit) -> None:
    page = await visit.text(f"{REPLAY}?step=2")

    assert 'method="post"' not in page


async def test_a_dashboard_without_a_past_says_so(opens: Opens, tmp_path: Path) -> None:
    async with opens(Telling(tmp_path / "log.git").rules) as visit:
        answer = await visit.http.get(REPLAY)

    assert answer.status_code == 404
    assert f"The past of {NAME} is not known here." in answer.text


@pytest.mark.needs(PROGRAM, "npm")
async def test_the_slider_moves_through_the_log(visit: Visit) -> None:
    async with browsers.launched() as browser, browsers.tab(browser) as tab:
        await tab.page.goto(visit.address(f"{REPLAY}?step=1"))
        faults = await tab.faults()
        await tab.page.get_by_label("Step").press("ArrowRight")
        await expect(tab.page.locator(".replay p")).to_contain_text("step 2 of 3")
        await expect(tab.page.locator("#task-1 .badge")).to_have_text("running")
        await tab.page.get_by_label("Step").press("ArrowRight")
        await expect(tab.page.locator("#task-1 .badge")).to_have_text("merged")

    assert faults == []
