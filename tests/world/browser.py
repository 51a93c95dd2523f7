"""A real browser: Debian's Chromium, driven over its own protocol."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from playwright.async_api import Browser, Page, async_playwright, expect

from tests.world import npm
from tests.world.patience import patient
from tests.world.tools import where_is

PROGRAM: Final = "chromium"
PICTURES: Final = Path(__file__).parents[2] / ".artifacts" / "pictures"
"""Kept for whoever looks at a run; git does not see them."""
SIZE: Final = (1280, 900)
SEEN_MS: Final = patient(30_000)
_FLAGS: Final = (
    "--no-sandbox",  # tests may run as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_HERE: Final = Path(__file__).parents[1] / "npm"
Scheme = Literal["light", "dark"]


@dataclass
class Tab:
    """One page, and what it complained of: scripts that were stopped, errors."""

    page: Page
    complaints: list[str] = field(default_factory=list)

    async def picture(self, name: str) -> Path:
        """Keep what is to be seen now; return where."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        file = PICTURES / f"{name}.png"
        await self.page.screenshot(path=file)
        return file

    async def faults(self) -> list[str]:
        """Return what axe-core calls serious or critical, a line each.

        It is put in past the page's policy, which allows no script of others.
        """
        axe = npm.installed(_HERE) / "axe-core" / "axe.min.js"
        await self.page.evaluate(axe.read_text(encoding="utf-8"))
        found = await self.page.evaluate("axe.run()")
        assert found["passes"], "axe looked at nothing"
        return [
            f"{each['id']}: {where['html']} {where['failureSummary']}"
            for each in found["violations"]
            if each["impact"] in ("serious", "critical")
            for where in each["nodes"]
        ]

    async def focused(self) -> str:
        """Return what the keyboard is at: the element's name for people."""
        told: Any = await self.page.evaluate(
            "(e => e.getAttribute('aria-label') || e.innerText || e.tagName)"
            "(document.activeElement)"
        )
        return re.sub(r"\s+", " ", str(told)).strip()


@asynccontextmanager
async def launched() -> AsyncIterator[Browser]:
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=where_is(PROGRAM), args=_FLAGS, timeout=SEEN_MS
        )
        expect.set_options(timeout=SEEN_MS)
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def tab(browser: Browser, scheme: Scheme = "light") -> AsyncIterator[Tab]:
    """Open a page with no cookies of any other."""
    width, height = SIZE
    context = await browser.new_context(
        color_scheme=scheme,
        viewport={"width": width, "height": height},
        ignore_https_errors=True,  # a test's own authority
    )
    context.set_default_timeout(SEEN_MS)
    try:
        opened = Tab(await context.new_page())
        opened.page.on("console", lambda said: _note(opened, said.type, said.text))
        opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        yield opened
    finally:
        await context.close()


def _note(opened: Tab, kind: str, text: str) -> None:
    if kind in ("error", "warning"):
        opened.complaints.append(text)
