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
from types import SimpleNamespace
from typing import Final, Literal

from jinja2 import ChoiceLoader, FileSystemLoader, PackageLoader
from playwright.async_api import CDPSession, Page
from tenacity import retry, stop_after_attempt, wait_fixed

from bot.dashboard import (
    access_policy,
    dashboard_source as sources,
    drawings,
    page_contents,
)
from bot.dashboard.access_policy import Visitor
from bot.dashboard.application import serving
from bot.dashboard.dashboard_source import DashboardSource, LogHistory, Session
from bot.dashboard.pages import STATES
from bot.requests import verb_table
from bot.requests.verb import Asker, Request
from bot.text.replies import Reply
from brat.repository.log_reader import Reader
from convoy.log.record import Reading
from convoy.model import ids
from convoy.views.interventions import interventions
from convoy.views.reasons import merge_train
from tests.pictures import busy_repository as busy_log, outside_the_log
from tests.pictures.busy_repository import EARLIER, NAME, Busy, busy_repository
from tests.pictures.passkeys_plan import RED
from tests.world import browser as browsers
from tests.world.browser import Scheme
from tests.world.requests import carried_out

TOKEN: Final = "0123456789abcdef"
HERE: Final = Path(__file__).parent
CONVOY_STATES: Final = ("planning", "active", "paused", "complete", "failed")
PICTURES: Final = Path(__file__).parents[2] / "docs" / "pictures"
Kind = Literal["webp", "png"]
QUALITY: Final = 60
LIVE: Final = "() => typeof live === 'undefined' || live.then(() => true)"
"""From then on changes have their colours."""
STORIES: Final[dict[str, Callable[[Path], Busy]]] = {
    "busy": partial(busy_repository, tasks=20, others=20),
    "idle": Busy,
    "finished": busy_log.finished_repository,
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
    "task": f"/convoys/{NAME}/tasks/{RED}",
    "changes": f"/convoys/{NAME}/changes",
    "sessions": "/sessions",
    "log": "/log",
    "analytics": "/analytics",
    "search": "/search?words=passkeys",
    "waits": "/waits",
    "tasks": "/tasks",
    "earlier": f"/convoys/{EARLIER}",
    "components": "/components",
}


async def show_components(page: Page, busy: Busy) -> None:
    """Let a tab find the page of all components, which no dashboard serves."""
    convoy, reader = busy.state.convoys[NAME], Reader(busy.path)
    reader.read()
    past = LogHistory(busy.path, lambda: reader.reading)
    sessions = past.told(lambda log: log.sessions.of(NAME))
    pages = page_contents.PAGES.overlay(
        loader=ChoiceLoader(
            [PackageLoader("bot.dashboard", "templates"), FileSystemLoader(HERE)]
        )
    )
    body = pages.get_template("components.html").render(
        source=SimpleNamespace(base="", web="https://forge.example", carry_out=True),
        visitor=Visitor(may_write=True),
        may_write=True,
        path="/components",
        now=busy.now,
        convoys_by_name=busy.state.convoys,
        convoy=convoy,
        states=(*STATES, *CONVOY_STATES, "handed in", "sent back", "refused", "lost"),
        words=[*verb_table.BY_TASK_WORD],
        printed=outside_the_log.printed(RED, 1),
        waits=interventions(busy.state, busy.now)[:1],
        agents=[(*each, "Editing a file") for each in busy.state.running()][:2],
        train=merge_train(convoy, outside_the_log.checks(busy.state)),
        gantt=drawings.draw_gantt(convoy, sessions, busy.now, 8),
    )
    headers = {**access_policy.HEADERS, "Content-Type": "text/html"}
    await page.route(
        "**/components", lambda route: route.fulfill(body=body, headers=headers)
    )


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
        log=sources.log_tail(busy.path, busy.log.head),
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
    with TemporaryDirectory(prefix="brat-pictures-") as logs:
        async with browsers.launched() as browser:
            for story in stories:
                busy = STORIES[story](Path(logs) / f"{story}.git")
                chosen = [each for each in pages if each in ELSE.get(story, PAGES)]
                async with shown(busy) as url:
                    for scheme in SCHEMES:
                        async with browsers.tab(browser, scheme) as tab:
                            await tab.page.goto(url)
                            if NAME in busy.state.convoys:
                                await show_components(tab.page, busy)
                            name = f"{{page}}-{story}-{{width}}-{scheme}.{kind}"
                            await _all(tab.page, str(folder / name), chosen, kind)


MOVING: Final = "overview-moving.webp"
FRAME_MS: Final = 1500


async def take_moving(folder: Path) -> None:
    """Take the first page while a convoy goes on, as one picture that moves."""
    frames: list[bytes] = []
    width, height = SIZES[0]
    with TemporaryDirectory(prefix="brat-pictures-") as name:
        async with browsers.launched() as browser, browsers.tab(browser) as tab:
            await tab.page.set_viewport_size({"width": width, "height": height})
            camera = await tab.page.context.new_cdp_session(tab.page)
            for merged in range(1, 11):
                path = Path(name) / f"{merged}.git"
                busy = busy_repository(path, tasks=20, others=20, merged=merged)
                async with shown(busy) as url:
                    await tab.page.goto(url)
                    taken = await _captured(camera, {"format": "webp", "quality": 50})
                    frames.append(b64decode(taken["data"]))
    moving = animated(frames, width, height, FRAME_MS)
    await asyncio.to_thread((folder / MOVING).write_bytes, moving)


def animated(frames: Sequence[bytes], width: int, height: int, shown_ms: int) -> bytes:
    """Return still WebP pictures as one that moves without an end.

    https://developers.google.com/speed/webp/docs/riff_container
    """

    def chunk(name: bytes, content: bytes) -> bytes:
        size = len(content).to_bytes(4, "little")
        return name + size + content + b"\0" * (len(content) % 2)

    size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    start = bytes(6) + size + shown_ms.to_bytes(3, "little") + b"\2"
    parts = [
        chunk(b"VP8X", b"\2\0\0\0" + size),
        chunk(b"ANIM", bytes(6)),
        *(chunk(b"ANMF", start + _picture_of(frame)) for frame in frames),
    ]
    return chunk(b"RIFF", b"WEBP" + b"".join(parts))


def _picture_of(still: bytes) -> bytes:
    """Return the part of a still WebP picture that holds its pixels."""
    at = 12
    while True:
        size = int.from_bytes(still[at + 4 : at + 8], "little")
        end = at + 8 + size + size % 2
        if still[at : at + 4] in (b"VP8 ", b"VP8L"):
            return still[at:end]
        at = end


async def _all(page: Page, file: str, names: Sequence[str], kind: Kind) -> None:
    """Take a picture of each page in each size; `file` has places for both."""
    top = await page.evaluate("location.origin")
    camera = await page.context.new_cdp_session(page)
    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        for name in names:
            await page.goto(top + PAGES[name])
            await page.evaluate(LIVE)
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
    parser.add_argument("--moving", action="store_true", help="only the moving one")
    parser.add_argument("--stories", choices=STORIES, nargs="+", default=[*STORIES])
    parser.add_argument("--pages", choices=PAGES, nargs="+", default=[*PAGES])
    wanted = parser.parse_args()
    wanted.to.mkdir(parents=True, exist_ok=True)
    if not wanted.moving:
        asyncio.run(take(wanted.to, wanted.stories, wanted.pages, wanted.kind))
    asyncio.run(take_moving(wanted.to))


if __name__ == "__main__":
    main()
