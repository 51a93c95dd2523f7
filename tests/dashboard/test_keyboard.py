"""Who has no mouse: Tab leads to what can be pressed, and each action has a key."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Page, expect

from convoy.rules.people import RetryTask
from tests.dashboard.conftest import Opens
from tests.dashboard.test_browser import busy
from tests.world import browser as browsers
from tests.world.browser import PROGRAM, Tab
from tests.world.rules import NAME as SMALL, Rules, spec

pytestmark = [pytest.mark.needs(PROGRAM), pytest.mark.timeout(300)]


@pytest.fixture
async def tab() -> AsyncIterator[Tab]:
    async with browsers.launched() as browser, browsers.tab(browser) as tab:
        yield tab


async def reach(page: Page, selector: str) -> None:
    """Press Tab until something has the focus."""
    there = page.locator(f":focus:is({selector})")
    for _ in range(100):
        await page.keyboard.press("Tab")
        if await there.count():
            return
    pytest.fail(f"Tab does not reach {selector}")


async def press(page: Page, name: str, says: str = "") -> None:
    """Press a button by keyboard; its answer is seen, and Escape takes it away."""
    if says:
        await reach(page, f"#say-{name.partition(' ')[0]}")
        await page.keyboard.type(says)
    await reach(page, f'[aria-label="{name}"]')
    await page.keyboard.press("Enter")
    refused = name.startswith("revise")  # no engine made that plan
    shown = page.locator("#toast .toast" + (".bad" if refused else ":not(.bad)"))
    await expect(shown).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.locator("#toast .toast")).to_have_count(0)


@pytest.mark.layer("deep")
async def test_each_action_has_a_key(opens: Opens, tab: Tab) -> None:
    page, of = tab.page, f"/convoys/{SMALL}"
    steps = (
        *((5, "retry task 5", ""), (4, "hold task 4", ""), (4, "release task 4", "")),
        *((3, "tell task 3", "mind the tabs"), (3, "stop task 3", "")),
        *((2, "drop task 2", ""), (0, f"pause {SMALL}", "")),
        (0, f"cancel {SMALL}", ""),
    )
    async with opens(busy()) as visit:
        await page.goto(visit.address())
        for task, name, says in steps:
            await page.goto(f"{visit.url}{of}/tasks/{task}" if task else visit.url + of)
            await press(page, name, says)
        assert visit.rules.convoy.state == "failed"
    for name, path, says in (
        (f"approve the plan of {SMALL}", "/", ""),
        (f"revise {SMALL}", of, "one task is enough"),
    ):
        async with opens(Rules().planned(spec(1), approve="plan")) as visit:
            await page.goto(visit.address(path))
            await press(page, name, says)


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
