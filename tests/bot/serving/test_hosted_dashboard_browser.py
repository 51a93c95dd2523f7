"""Signing in with the forge, in a real browser, and what each person sees then."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import get_args

import pytest
from playwright.async_api import Browser

from tests.world import browser as browsers
from tests.world.browser import PROGRAM, Scheme, Tab
from tests.world.forge import REPO
from tests.world.site import NAME, Site, site_with_tls

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
