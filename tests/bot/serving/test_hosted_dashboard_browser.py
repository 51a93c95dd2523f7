"""Signing in with the forge, in a real browser, and what each person sees then."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from bot.dashboard.login import SESSION
from tests.world import browser as browsers
from tests.world.browser import PROGRAM, Tab
from tests.world.forge import REPO
from tests.world.site import NAME, PRIVATE, Site, site_with_tls

pytestmark = [pytest.mark.needs(PROGRAM, "npm"), pytest.mark.timeout(300)]

CONVOY = f"/{REPO}/convoys/{NAME}"


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with browsers.launched() as launched:
        yield launched


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[tuple[Site, str]]:
    async with site_with_tls(tmp_path) as (site, url, _):
        yield site, url


@asynccontextmanager
async def someone(
    browser: Browser, here: tuple[Site, str], who: str
) -> AsyncIterator[Tab]:
    """Open a browser of somebody whom the forge knows already."""
    async with browsers.tab(browser) as tab:
        session = {
            "name": "user_session",
            "value": here[0].town.tokens[who],
            "url": here[0].town.url,
        }
        await tab.page.context.add_cookies([session])  # type: ignore[list-item]
        yield tab


async def test_a_writer_signs_in_presses_a_button_and_signs_out(
    here: tuple[Site, str], browser: Browser
) -> None:
    site, url = here
    async with someone(browser, here, "alice") as tab:
        page = tab.page
        await page.goto(url)
        await expect(page.get_by_role("link", name=PRIVATE)).to_have_count(0)
        await page.get_by_role("link", name="Sign in").click()
        await expect(page.get_by_role("link", name=PRIVATE)).to_be_visible()
        await tab.picture("site-index")
        assert await tab.faults() == []
        await page.get_by_role("link", name=REPO).click()
        await (
            page.get_by_role("region", name="Fix it").get_by_role("link").first.click()
        )
        heading = page.get_by_role("heading", level=1)
        await page.get_by_role("button", name=f"pause {NAME}").click()
        await expect(heading).to_contain_text("paused")
        await expect(page.get_by_role("button", name=f"resume {NAME}")).to_be_visible()
        await page.get_by_role("main").get_by_role("link", name="Log").click()
        await expect(page.get_by_text("alice paused the convoy")).to_be_visible()
        assert await page.evaluate("document.cookie") == ""
        await page.get_by_role("button", name="Sign out").click()
        await expect(page.get_by_role("link", name="Sign in")).to_be_visible()
        left = {each["name"] for each in await page.context.cookies(url)}
        await page.goto(url + CONVOY)
        await expect(page.get_by_role("button")).to_have_count(0)

    assert SESSION not in left
    assert site.town.tokens["alice"] not in str(left)
