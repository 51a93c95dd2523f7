"""Who has no mouse: Tab leads to what can be pressed, and each action has a key."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import expect

from convoy.rules.retries import RetryTask
from tests.dashboard.conftest import Opens
from tests.dashboard.test_browser import busy
from tests.world import browser as browsers
from tests.world.browser import PROGRAM, Tab
from tests.world.rules import NAME as SMALL

pytestmark = [pytest.mark.needs(PROGRAM), pytest.mark.timeout(300)]


@pytest.fixture
async def tab() -> AsyncIterator[Tab]:
    async with browsers.launched() as browser, browsers.tab(browser) as tab:
        yield tab


async def test_what_is_typed_stays_while_the_page_changes(
    opens: Opens, tab: Tab
) -> None:
    page = tab.page
    async with opens(busy()) as visit:
        await page.goto(visit.address(f"/convoys/{SMALL}/tasks/5"))
        await page.keyboard.press("Tab")
        assert await tab.focused() == "Skip to content"
        await page.keyboard.press("Enter")
        assert await page.evaluate("document.activeElement.id") == "page"
        message = page.get_by_role("textbox").last
        await message.fill("mind <b>the tabs</b>")
        visit.rules.do(RetryTask(convoy=SMALL, task=5, by="ann"))
        await expect(page.locator("h1 .badge")).to_have_text("queued")
        await expect(message).to_have_value("mind <b>the tabs</b>")
        await page.get_by_role("button", name="tell task 5").press("Enter")
        await expect(page.get_by_role("status")).to_contain_text("get the message")
        await expect(message).to_have_value("")

    assert "mind the tabs" in visit.rules.task(5).notes[-1]
