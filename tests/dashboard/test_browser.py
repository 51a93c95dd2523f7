"""The pages in a real browser: live, harmless, for every eye and for the keyboard."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Route, expect

from convoy.rules.people import BlockTask
from convoy.rules.retries import RetryTask
from tests.dashboard.conftest import Opens
from tests.world import browser as browsers
from tests.world.browser import PROGRAM, Tab
from tests.world.rules import NAME, Rules, sha, spec

pytestmark = [pytest.mark.needs(PROGRAM, "npm"), pytest.mark.timeout(300)]


@pytest.fixture
async def tab() -> AsyncIterator[Tab]:
    async with browsers.launched() as browser, browsers.tab(browser) as tab:
        yield tab


def busy() -> Rules:
    rules = Rules().planned(
        spec(1, title="Give tokens the lifetime they promise"),
        spec(2, title="Accept the Bearer scheme in any case", after=(1, 3)),
        spec(3, title="Do not tell strangers which names exist"),
        spec(4, title="Keep line breaks out of the audit log", after=(1,)),
        spec(5, title="List every role in the API documents"),
    )
    rules.landed(1, sha("a")).started(3).started(4).accepted(4, sha("b"))
    return rules.do(BlockTask(convoy=NAME, task=5, why="no CI here"))


@pytest.mark.layer("landing")
async def test_news_come_without_a_reload_and_leave_the_focus(
    opens: Opens, tab: Tab
) -> None:
    rules = busy()
    async with opens(rules) as visit:
        await tab.page.goto(visit.address())
        link = tab.page.get_by_role(
            "link", name="5 List every role in the API documents"
        )
        await link.focus()
        await tab.page.evaluate("window.here = 'the same page'")
        rules.accepted(3, sha("c"))
        await expect(
            tab.page.get_by_role("link", name="2 needs-review")
        ).to_be_visible()

        assert await tab.page.evaluate("window.here") == "the same page"
        await expect(link).to_be_focused()


async def test_a_log_opens_at_what_failed(opens: Opens, tab: Tab) -> None:
    noise = "\n".join(f"line {number}" for number in range(200))
    said = f"{noise}\nFAILED tests/test_a.py::test_b - assert 1 == 2\n{noise}"
    rules = Rules().planned(spec(1)).blocked(1, f"CI is red on abc: it\n\n{said}")
    async with opens(rules) as visit:
        await tab.page.goto(visit.address(f"/convoys/{NAME}/tasks/1"))
        failed = tab.page.locator(".log .bad")
        await expect(failed).to_be_in_viewport()

        await tab.page.goto(visit.address("/waits"))
        await tab.page.locator(".waits summary").click()
        await expect(failed).to_be_in_viewport()


async def test_a_button_pressed_before_the_scripts_are_there_counts(
    opens: Opens, tab: Tab
) -> None:
    """They come after the first paint."""
    pressed = asyncio.Event()

    async def hold(route: Route) -> None:
        await pressed.wait()
        await route.continue_()

    async with opens(busy()) as visit:
        await tab.page.route("**/htmx-2*", hold)
        await tab.page.goto(visit.address())
        await tab.page.get_by_role("button", name=f"retry task 5 of {NAME}").click()
        pressed.set()
        await expect(tab.page.get_by_role("status")).to_contain_text(
            "Task 5 is queued again"
        )
        assert tab.page.url == f"{visit.url}/"


async def test_what_is_typed_stays_while_the_page_changes(
    opens: Opens, tab: Tab
) -> None:
    page = tab.page
    async with opens(busy()) as visit:
        await page.goto(visit.address(f"/convoys/{NAME}/tasks/5"))
        await page.keyboard.press("Tab")
        assert await tab.focused() == "Skip to content"
        await page.keyboard.press("Enter")
        assert await page.evaluate("document.activeElement.id") == "page"
        message = page.get_by_role("textbox").last
        await message.fill("mind <b>the tabs</b>")
        visit.rules.do(RetryTask(convoy=NAME, task=5, by="ann"))
        await expect(page.locator("h1 .badge")).to_have_text("queued")
        await expect(message).to_have_value("mind <b>the tabs</b>")
        await page.get_by_role("button", name="tell task 5").press("Enter")
        await expect(page.get_by_role("status")).to_contain_text("get the message")
        await expect(message).to_have_value("")

    assert "mind the tabs" in visit.rules.task(5).notes[-1]
