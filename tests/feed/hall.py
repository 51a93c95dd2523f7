"""A bot's feed over rules in memory, served for real."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from aiohttp import web

from bot.feed import handover, tokens
from bot.feed.feed import Feed
from bot.serving.service import listening, with_feed
from runner.feed.place import Place
from tests.world.rules import NAME, Rules, spec

REPO = "pat/project"
READER = "made-up-token-of-readers"
SESSION = f"{NAME}/1/1"


@dataclass
class Hall:
    """What a session finds when it comes to the feed."""

    folder: Path
    rules: Rules
    feed: Feed
    http: httpx.AsyncClient
    port: int
    bells: list[None]

    @property
    def news(self) -> int:
        """How often the loop was woken."""
        return len(self.bells)

    def place(self, session: str = SESSION) -> Place:
        """Return what the runner of a session is handed."""
        url = f"http://127.0.0.1:{self.port}{handover.PATH}/{REPO}/{session}"
        return Place(url, tokens.token_of(tokens.key_of(self.folder), REPO, session))

    async def send(
        self, method: str, what: str, session: str = SESSION, **given: object
    ) -> httpx.Response:
        """Ask as a session would, with its token unless headers are given."""
        place = self.place(session)
        token = {"Authorization": f"Bearer {place.token}"}
        given.setdefault("headers", token)
        url = f"{place.url}/{what}"
        return await self.http.request(method, url, **given)  # type: ignore[arg-type]


def running() -> Rules:
    """Return rules with one running session."""
    return Rules().planned(spec(1), spec(2)).started(1)


@asynccontextmanager
async def hall(folder: Path, rules: Rules, port: int = 0) -> AsyncIterator[Hall]:
    """Serve a feed."""
    bells: list[None] = []
    feed = Feed(folder, REPO, lambda: rules.state, READER, lambda: bells.append(None))
    app = web.Application()
    with_feed(app, {REPO: feed}.get)
    async with (
        listening(app, "127.0.0.1", port) as bound,
        httpx.AsyncClient(trust_env=False, timeout=10) as http,
    ):
        yield Hall(folder, rules, feed, http, bound, bells)
