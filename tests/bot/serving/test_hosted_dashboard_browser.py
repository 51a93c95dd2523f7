"""Signing in with the forge, in a real browser, and what each person sees then."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import get_args
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.async_api import Browser, expect

from bot.dashboard.login import SESSION
from tests.world import browser as browsers
from tests.world.browser import PROGRAM, Scheme, Tab
from tests.world.forge import REPO
from tests.world.site import NAME, PRIVATE, Site, site_with_tls

pytestmark = [pytest.mark.needs(PROGRAM, "npm"), pytest.mark.timeout(300)]

CONVOY = f"/{REPO}/convoys/{NAME}"
PAUSE = f"{CONVOY}/pause"


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
    browser: Browser,
    here: tuple[Site, str],
    who: str = "",
    scheme: Scheme = "light",
) -> AsyncIterator[Tab]:
    """Open a browser of somebody whom the forge knows already."""
    async with browsers.tab(browser, scheme) as tab:
        if who:
            session = {
                "name": "user_session",
                "value": here[0].town.tokens[who],
                "url": here[0].town.url,
            }
            await tab.page.context.add_cookies([session])  # type: ignore[list-item]
        yield tab


async def pressed(tab: Tab, path: str, csrf: str = "") -> int:
    """Send what a button would, past the page; return the answer's status."""
    sends = (
        "([path, csrf]) => fetch(path, {method: 'POST', redirect: 'manual', body:"
        " new URLSearchParams({csrf})}).then(answer => answer.status)"
    )
    return int(await tab.page.evaluate(sends, [path, csrf]))


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
        await page.get_by_role("link", name=NAME).last.click()
        heading = page.get_by_role("heading", level=1)
        await page.get_by_role("button", name=f"pause {NAME}").click()
        await expect(heading).to_contain_text("paused")
        await expect(page.get_by_role("button", name=f"resume {NAME}")).to_be_visible()
        await page.get_by_role("link", name="Everything that happened").click()
        await expect(page.get_by_text("alice paused the convoy")).to_be_visible()
        assert await page.evaluate("document.cookie") == ""
        await page.get_by_role("button", name="Sign out").click()
        await expect(page.get_by_role("link", name="Sign in")).to_be_visible()
        left = {each["name"] for each in await page.context.cookies(url)}
        await page.goto(url + CONVOY)
        await expect(page.get_by_role("button")).to_have_count(0)
        refused = await pressed(tab, PAUSE)

    assert SESSION not in left
    assert refused == 403
    assert site.town.tokens["alice"] not in str(left)


async def test_a_reader_sees_no_buttons_and_is_refused(
    here: tuple[Site, str], browser: Browser
) -> None:
    _, url = here
    async with someone(browser, here, "mallory") as tab:
        page = tab.page
        await page.goto(f"{url}/login?to={CONVOY}")
        await expect(page.get_by_text("mallory")).to_be_visible()
        names = await page.get_by_role("button").all_inner_texts()
        csrf = await page.locator("input[name=csrf]").get_attribute("value")
        with_token = await pressed(tab, PAUSE, csrf or "")
        without = await pressed(tab, PAUSE)
        missing = await page.goto(f"{url}/{PRIVATE}/")
        assert await tab.faults() == []
        await page.goto(url + CONVOY)
        heading = page.get_by_role("heading", level=1)
        await expect(heading).not_to_contain_text("paused")

    assert names == ["Sign out"]
    assert (with_token, without) == (403, 403)
    assert missing is not None
    assert missing.status == 404


async def way_back(tab: Tab, here: tuple[Site, str], who: str) -> str:
    """Begin to sign in from this browser, and agree at the forge as `who`."""
    site, url = here
    ask, shows = tab.page.request, {"Authorization": f"Bearer {site.town.tokens[who]}"}
    out = await ask.get(f"{url}/login", max_redirects=0)
    there = await ask.get(out.headers["location"], headers=shows, max_redirects=0)
    return there.headers["location"]


async def test_a_state_that_is_not_ours_signs_nobody_in(
    here: tuple[Site, str], browser: Browser
) -> None:
    """Neither the right way back with another state, nor the way of somebody else."""
    _, url = here
    async with (
        someone(browser, here) as hers,
        someone(browser, here, "alice") as tab,
    ):
        page = tab.page
        of_mallory = await way_back(hers, here, "mallory")
        own = urlsplit(await way_back(tab, here, "alice"))
        asked = {name: each[0] for name, each in parse_qs(own.query).items()}
        forged = urlencode(asked | {"state": "x" * len(asked["state"])})
        told = []
        for path in (f"{url}{own.path}?{forged}", of_mallory):
            answer = await page.goto(path)
            heading = page.get_by_role("heading", level=1)
            await expect(heading).to_contain_text("Forbidden")
            told.append((answer and answer.status, await tab.faults()))
        await tab.picture("site-refused")
        names = {each["name"] for each in await page.context.cookies(url)}
        await page.goto(own.geturl())
        await expect(page.get_by_role("button", name="Sign out")).to_be_visible()

    assert told == [(403, []), (403, [])]
    assert SESSION not in names


async def test_every_page_of_its_own_is_for_every_eye(
    here: tuple[Site, str], browser: Browser
) -> None:
    """The list of repositories, for nobody and somebody, and what is refused there."""
    _, url = here
    for scheme in get_args(Scheme):
        async with (
            someone(browser, here, scheme=scheme) as nobody,
            someone(browser, here, "alice", scheme) as alice,
        ):
            await alice.page.goto(f"{url}/login")
            for tab, path in (
                (nobody, "/"),
                (nobody, "/login/done"),
                (nobody, CONVOY),
                (alice, "/"),
                (alice, "/alice/nope/"),
                (alice, CONVOY),
                (alice, f"/{REPO}/log"),
            ):
                await tab.page.goto(url + path)
                assert await tab.faults() == [], (path, scheme)
            await alice.picture(f"site-log-{scheme}")
