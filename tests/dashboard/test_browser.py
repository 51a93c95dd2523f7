"""The pages in a real browser: live, harmless, for every eye and for the keyboard."""

import asyncio
from collections.abc import AsyncIterator
from itertools import product
from pathlib import Path

import pytest
from playwright.async_api import Page, Route, ViewportSize, expect

from convoy.rules.retries import RetryTask
from tests.dashboard.conftest import opens
from tests.dashboard.test_pages import house_of_all
from tests.pictures.busy_repository import busy_repository
from tests.pictures.passkeys_plan import RED, REFUSED, title
from tests.pictures.take import PAGES, SCHEMES, show_components, shown
from tests.world import browser as browsers
from tests.world.browser import PROGRAM, Tab
from tests.world.rules import NAME, Rules, sha, spec

pytestmark = [pytest.mark.needs(PROGRAM, "npm"), pytest.mark.timeout(300)]


@pytest.fixture
async def tab() -> AsyncIterator[Tab]:
    async with browsers.launched() as browser, browsers.tab(browser) as tab:
        yield tab


@pytest.mark.layer("landing")
async def test_news_come_without_a_reload_and_leave_the_focus(tab: Tab) -> None:
    rules = house_of_all()
    async with opens(rules) as visit:
        await tab.page.goto(visit.address())
        link = tab.page.get_by_role("link", name="5 Task 5")
        await link.focus()
        await tab.page.evaluate("window.here = 'the same page'")
        rules.accepted(3, sha("c"))
        await expect(
            tab.page.get_by_role("link", name="2 needs-review")
        ).to_be_visible()

        assert await tab.page.evaluate("window.here") == "the same page"
        await expect(link).to_be_focused()


async def test_a_log_opens_at_what_failed(tab: Tab) -> None:
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


async def test_a_button_pressed_before_the_scripts_are_there_counts(tab: Tab) -> None:
    """They come after the first paint."""
    pressed = asyncio.Event()

    async def hold(route: Route) -> None:
        await pressed.wait()
        await route.continue_()

    async with opens(house_of_all()) as visit:
        await tab.page.route("**/htmx-2*", hold)
        await tab.page.goto(visit.address())
        await tab.page.get_by_role("button", name=f"retry task 5 of {NAME}").click()
        pressed.set()
        await expect(tab.page.get_by_role("status")).to_contain_text(
            "Task 5 is queued again"
        )
        assert tab.page.url == f"{visit.url}/"


async def test_what_is_typed_stays_while_the_page_changes(tab: Tab) -> None:
    page = tab.page
    async with opens(house_of_all()) as visit:
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


# --- what people ask first is answered in two clicks at most --------------------------


FOLD = ViewportSize(width=1280, height=800)
PHONE = ViewportSize(width=390, height=844)
TASKS = 20
PASSKEYS = "Let people sign in with passkeys"
MORE_PAGES = ("/convoys", "/log?words=nothing-of-the-kind", "/nope", "/?token=guess")
COLOURS = """(({color, backgroundColor}) => [color, backgroundColor].map(
    each => each.match(/\\d+/g).map(Number).reduce((one, other) => one + other)
))(getComputedStyle(document.body))"""
"""How light the ink and the paper are."""


@pytest.fixture
async def pictured(tmp_path: Path) -> AsyncIterator[Tab]:
    """Open the first page of a repository with two convoys of twenty tasks each."""
    busy = busy_repository(tmp_path / "log.git", TASKS, others=TASKS)
    async with (
        shown(busy) as url,
        browsers.launched() as browser,
        browsers.tab(browser) as tab,
    ):
        await tab.page.goto(url)
        await show_components(tab.page, busy)
        yield tab


async def overview(page: Page) -> Page:
    await page.set_viewport_size(FOLD)
    await page.get_by_role("link", name="Overview").click()
    return page


async def test_five_questions_are_answered_in_two_clicks(pictured: Tab) -> None:
    page = await overview(pictured.page)

    # what waits for me: without a click
    waits = page.get_by_role("region", name="Waiting for you")
    await expect(waits.get_by_text("its acceptance command failed")).to_be_in_viewport()
    await expect(page.get_by_role("heading", level=1)).to_have_text(
        "2 items are waiting for you"
    )
    # how far is it: without a click
    one = page.get_by_role("region", name=PASSKEYS)
    await expect(one.get_by_text("10 of 20 merged · ")).to_be_in_viewport()
    # is it going well: without a click
    await expect(one.get_by_text("needs you")).to_be_in_viewport()
    await expect(page.get_by_text("#42 needs you", exact=True)).to_be_in_viewport()
    other = page.get_by_role("region", name="Export invoices as CSV")
    await expect(other.get_by_text("on track")).to_be_in_viewport()

    # who works on what, where tasks have the same number: without a click
    agents = page.get_by_role("region", name="Working agents")
    await expect(agents.get_by_role("link").first).to_be_in_viewport()
    for convoy in (f"{PASSKEYS} #42", "Export invoices as CSV #40"):
        await expect(agents).to_contain_text(convoy)

    # what did it cost, why is a queued task not merged: without a click
    cost = page.get_by_text("20 of 40 tasks merged · $")
    await expect(cost).to_be_in_viewport()
    await expect(one.get_by_text("waits for task 6")).to_be_in_viewport()

    # why is task 7 not merged: the reason without a click, all of it with one
    await expect(waits.get_by_text("CI is red on")).to_be_in_viewport()
    await expect(waits.get_by_text("4 more tasks wait for it")).to_be_in_viewport()
    await page.get_by_role("link", name=f"{RED} {title(RED)}").first.click()
    why = page.get_by_role("region", name="Why the task is in this state")
    await expect(why).to_contain_text("CI is red on")
    await expect(why).to_contain_text("test_ten_attempts_lock_an_account")

    # what waits for CI, and not for me: one click
    await overview(page)
    await page.get_by_role("link", name=PASSKEYS).click()
    tasks = page.get_by_role("region", name="Tasks")
    await expect(tasks).to_contain_text("waiting for CI or its turn to land")

    # what has changed: two clicks; the colours leave its text as it is
    await page.get_by_role("link", name="Changes").click()
    kept = page.locator(".diff .plus", has_text="with self._lock:")
    await expect(kept.locator(".hljs-keyword")).to_have_text("with")
    await expect(kept).to_have_text("+        with self._lock:\n")

    # what did the agent say before it failed: one click
    await overview(page)
    await page.get_by_role("link", name=f"{REFUSED} {title(REFUSED)}").first.click()
    said = page.get_by_role("region", name="Output of the last session")
    await expect(said).to_contain_text("I cannot lock an account without a store")
    tried = page.get_by_role("region", name="Attempts")
    await tried.get_by_role("link", name="Output").last.click()
    first_said = page.get_by_role("region", name="Output of attempt 1")
    await expect(first_said).to_contain_text("I cannot lock an account")

    # what did an engine cost this week: one click
    await overview(page)
    await page.get_by_role("link", name="Analytics").click()
    week = page.get_by_role("region", name="Last 7 days")
    await expect(week.get_by_role("row", name="codex")).to_contain_text("$")

    # and how long people took
    took = page.get_by_role("region", name="Time until people answered")
    await expect(took.get_by_text("90% within")).to_be_visible()


async def test_pages_fit_a_phone_and_every_eye(pictured: Tab) -> None:
    tab, page = pictured, pictured.page
    top = await page.evaluate("location.origin")
    paths = (*PAGES.values(), *MORE_PAGES, f"{PAGES['task']}?attempt=1")
    for size, path in product((PHONE, FOLD), paths):
        await page.set_viewport_size(size)
        await page.goto(top + path)
        for scheme in SCHEMES:
            await page.emulate_media(color_scheme=scheme)
            wide = await page.evaluate("document.documentElement.scrollWidth")
            ink, paper = await page.evaluate(COLOURS)
            assert size is FOLD or wide <= PHONE["width"], path
            assert (ink > paper) == (scheme == "dark"), path
            assert await tab.faults() == [], (path, scheme)
    assert [said for said in tab.complaints if "status of 40" not in said] == []
