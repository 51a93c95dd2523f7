"""What people see of a convoy on GitHub is whole."""

from pathlib import Path

import pytest

from tests.pictures.on_github import take
from tests.world import browser as browsers


@pytest.mark.layer("deep")
@pytest.mark.needs(browsers.PROGRAM, "npm")
async def test_no_table_is_cut_and_no_markdown_is_left(tmp_path: Path) -> None:
    await take(tmp_path)
    async with browsers.launched() as browser, browsers.tab(browser) as tab:
        await tab.page.set_viewport_size({"width": 1800, "height": 900})
        await tab.page.goto((tmp_path / "on-github.html").as_uri())
        cut = "all => all.filter(each => each.scrollWidth > each.clientWidth).length"
        assert await tab.page.locator("table").evaluate_all(cut) == 0
        shown = await tab.page.inner_text("body")
    for left in ("**", "](", "|--", "<!--", "<sub>", "brat:key"):
        assert left not in shown
