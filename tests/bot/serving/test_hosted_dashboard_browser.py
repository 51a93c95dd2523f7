"""Signing in with the forge, in a real browser, and what each person sees then."""

from pathlib import Path
from typing import get_args

import pytest

from tests.world import browser as browsers
from tests.world.browser import PROGRAM, Scheme
from tests.world.forge import REPO
from tests.world.site import NAME, site_with_tls

pytestmark = [pytest.mark.needs(PROGRAM, "npm"), pytest.mark.timeout(300)]

CONVOY = f"/{REPO}/convoys/{NAME}"


async def test_every_page_of_its_own_is_for_every_eye(tmp_path: Path) -> None:
    """The list of repositories, for nobody and somebody, and what is refused there."""
    async with (
        site_with_tls(tmp_path) as (site, url, _),
        browsers.launched() as program,
    ):
        for scheme in get_args(Scheme):
            async with (
                browsers.tab(program, scheme) as nobody,
                browsers.tab(program, scheme) as alice,
            ):
                known = {  # to the forge, already
                    "name": "user_session",
                    "value": site.town.tokens["alice"],
                    "url": site.town.url,
                }
                await alice.page.context.add_cookies([known])  # type: ignore[list-item]
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
