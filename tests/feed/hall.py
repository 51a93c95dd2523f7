"""A bot's feed over rules in memory, served for real."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from aiohttp import web

from bot.door import feed
from bot.door.feed import Feed, JobOrigin
from bot.door.listening import listening
from bot.door.oidc import Issuer
from bot.serving.bot_service import with_feed
from runner.inputs.job_inputs import FeedAddress
from tests.world.given_secrets import given
from tests.world.patience import patient
from tests.world.rules import NAME, Rules, spec

REPO = "pat/project"
SESSION = f"{NAME}/1/1"
AUDIENCE = "https://brat.example.com"
WORKFLOW = f"{REPO}/.github/workflows/brat-task-live.yml@refs/heads/main"
JOB = {
    "repository": REPO,
    "repository_id": "42",
    "run_id": "101",
    "run_attempt": "1",
    "event_name": "workflow_dispatch",
    "workflow_ref": WORKFLOW,
    "job_workflow_ref": WORKFLOW,
}
"""What the forge says of the job of `SESSION`."""


@dataclass
class Hall:
    folder: Path
    rules: Rules
    feed: Feed
    http: httpx.AsyncClient
    port: int
    bells: list[None]

    def place(self, session: str = SESSION) -> FeedAddress:
        """Return what the runner of a session is handed."""
        url = f"http://127.0.0.1:{self.port}{feed.FEED_PATH}/{REPO}/{session}"
        key = feed.kept_key(self.folder / feed.KEY_FILE)
        return FeedAddress(url, given(feed.session_token(key, REPO, session)))

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
    return Rules().planned(spec(1), spec(2)).started(1)


async def shows(folder: Path, text: str) -> bool:
    return feed.last_output(folder, SESSION).endswith(text)


@asynccontextmanager
async def hall(
    folder: Path,
    rules: Rules,
    port: int = 0,
    vouches: str = "",
    audience: str = AUDIENCE,
    clock: Callable[[], float] = time.monotonic,
) -> AsyncIterator[Hall]:
    """Serve a feed, which takes the word of the issuer at `vouches`.

    Who waits for messages waits by the clock.
    """
    bells: list[None] = []
    feed = Feed(
        folder,
        REPO,
        lambda: rules.state,
        lambda: bells.append(None),
        lambda: JobOrigin(REPO, 42, WORKFLOW),
        clock=clock,
    )
    app = web.Application()
    async with httpx.AsyncClient(trust_env=False, timeout=patient(30)) as http:
        issuer = Issuer(http, vouches, audience, folder / "feed.used")
        with_feed(app, {REPO: feed}.get, issuer if vouches else None)
        async with listening(app, "127.0.0.1", port) as bound:
            yield Hall(folder, rules, feed, http, bound, bells)
