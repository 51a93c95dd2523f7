"""`make pictures`: every page in every size, light and dark, as docs/pictures holds it.

The pages come from the real dashboard over logs that `busy_repository` tells; the
clock stands still, so the same code gives the same pictures.
"""

import argparse
import asyncio
from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal

from playwright.async_api import CDPSession, Page
from tenacity import retry, stop_after_attempt, wait_fixed

from bot.dashboard.application import serving
from bot.dashboard.dashboard_source import (
    DashboardSource,
    LogHistory,
    LogTail,
    Session,
)
from bot.requests.verb import Asker, Request
from bot.text.replies import Reply
from brat.repository.log_reader import Reader
from convoy.log.record import Reading
from convoy.model import ids
from tests.pictures import outside_the_log
from tests.pictures.busy_repository import (
    EARLIER,
    NAME,
    Busy,
    busy_repository,
    finished_repository,
    idle_repository,
)
from tests.world import browser as browsers
from tests.world.browser import Scheme
from tests.world.requests import carried_out

TOKEN: Final = "0123456789abcdef"
PICTURES: Final = Path(__file__).parents[2] / "docs" / "pictures"
Kind = Literal["webp", "png"]
QUALITY: Final = 60
STORIES: Final[dict[str, Callable[[Path], Busy]]] = {
    "busy": partial(busy_repository, tasks=20, others=20),
    "idle": idle_repository,
    "finished": finished_repository,
    "crowded": partial(busy_repository, tasks=500),
}
ELSE: Final = {
    "idle": ("overview", "tasks", "sessions"),
    "finished": ("overview", "earlier"),
    "crowded": ("overview", "convoy", "graph", "tasks"),
}
"""What looks different in a story other than the first."""
SIZES: Final = ((1280, 800), (390, 844))
SCHEMES: Final[tuple[Scheme, ...]] = ("light", "dark")
PAGES: Final = {
    "overview": "/",
    "convoy": f"/convoys/{NAME}",
    "graph": f"/convoys/{NAME}?view=graph",
    "list": f"/convoys/{NAME}?view=list",
    "task": f"/convoys/{NAME}/tasks/12",
    "changes": f"/convoys/{NAME}/changes",
    "sessions": "/sessions",
    "log": "/log",
    "analytics": "/analytics",
    "search": "/search?words=passkeys",
    "waits": "/waits",
    "tasks": "/tasks",
    "earlier": f"/convoys/{EARLIER}",
}


@asynccontextmanager
async def shown(busy: Busy) -> AsyncIterator[str]:
    """Serve the story's dashboard; yield its address with the token."""

    async def carry_out(asker: Asker, request: Request) -> Reply:
        return await carried_out(busy.rules, asker, request)

    def printed(session: Session) -> str:
        _, task, attempt = ids.parse_session(session.name)
        return outside_the_log.printed(task, attempt)

    reader = Reader(busy.path)

    def read() -> Reading:
        reader.read()
        return reader.reading

    source = DashboardSource(
        repository="pat/passkeys",
        read=read,
        log=LogTail(busy.path, busy.log.head).last,
        history=LogHistory(busy.path, lambda: reader.reading),
        clock=lambda: busy.now,
        carry_out=carry_out,
        output=printed,
        checks=lambda: outside_the_log.checks(busy.state),
        changes=outside_the_log.changes,
        web="https://github.com/pat/passkeys",
        token=TOKEN,
    )
    async with serving(source, port=0) as url:
        yield f"{url}/?token={TOKEN}"


async def take(
    folder: Path, stories: Sequence[str], pages: Sequence[str], kind: Kind
) -> None:
    """Take pictures of pages into a folder, in each of the stories."""
    with TemporaryDirectory(prefix="brat-pictures-") as name:
        async with browsers.launched() as browser:
            for story in stories:
                busy = STORIES[story](Path(name) / f"{story}.git")
                chosen = [each for each in pages if each in ELSE.get(story, PAGES)]
                async with shown(busy) as url:
                    for scheme in SCHEMES:
                        async with browsers.tab(browser, scheme) as tab:
                            await tab.page.goto(url)
                            start = (
                                folder / f"{{page}}-{story}-{{width}}-{scheme}.{kind}"
                            )
                            await _all(tab.page, str(start), chosen, kind)


async def _all(page: Page, file: str, names: Sequence[str], kind: Kind) -> None:
    """Take a picture of each page in each size; `file` has places for both."""
    top = await page.evaluate("location.origin")
    camera = await page.context.new_cdp_session(page)
    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        for name in names:
            await page.goto(top + PAGES[name])
            await page.wait_for_load_state("load")
            asked = {"format": kind, **({"quality": QUALITY} if kind == "webp" else {})}
            taken = await _captured(camera, asked)
            picture = Path(file.format(page=name, width=width))
            await asyncio.to_thread(picture.write_bytes, b64decode(taken["data"]))


@retry(stop=stop_after_attempt(5), wait=wait_fixed(1), reraise=True)
async def _captured(camera: CDPSession, asked: Mapping[str, object]) -> dict[str, str]:
    """Take one picture; a browser on a loaded machine sometimes has no frame yet."""
    taken: dict[str, str] = await camera.send("Page.captureScreenshot", {**asked})
    return taken


def main() -> None:
    """Take the pictures that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=PICTURES)
    parser.add_argument("--kind", choices=("webp", "png"), default="webp")
    parser.add_argument("--stories", choices=STORIES, nargs="+", default=[*STORIES])
    parser.add_argument("--pages", choices=PAGES, nargs="+", default=[*PAGES])
    wanted = parser.parse_args()
    wanted.to.mkdir(parents=True, exist_ok=True)
    asyncio.run(take(wanted.to, wanted.stories, wanted.pages, wanted.kind))


if __name__ == "__main__":
    main()
