"""One bot: its desk, its door and its loop, opened and closed together."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

import httpx
from aiohttp import web

from bot.compose import Composer
from bot.desk import Desk, actor_of
from bot.door import Door
from bot.github import GitHub
from bot.inbox import Inbox
from bot.lease import BotLease
from bot.loop import RETRY_S, Loop
from bot.mirror import Mirror
from bot.rest import DEADLINE_S
from bot.settings import Settings
from bot.wake import Wake

Tell = Callable[[str], None]
_MIRROR: Final = "mirror.git"


@asynccontextmanager
async def opened(settings: Settings, tell: Tell) -> AsyncIterator[Loop]:
    """Give the loop of a bot, with what it works on; nothing is sent before a tick.

    Raises:
        Unavailable: the forge does not answer.
    """
    settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    async with AsyncExitStack() as stack:
        limits = httpx.Limits(max_connections=16)
        client = httpx.AsyncClient(timeout=DEADLINE_S, limits=limits, trust_env=False)
        await stack.enter_async_context(client)
        github = GitHub(
            client,
            api_url=settings.api_url,
            repository=settings.repository,
            token=settings.token,
        )
        path = settings.folder / _MIRROR
        url = f"{settings.git_url}/{settings.repository}.git"
        mirror = await asyncio.to_thread(Mirror.open, path, url, settings.token)
        actor = actor_of(settings.folder)
        desk = Desk(
            settings=settings,
            github=github,
            mirror=mirror,
            composer=Composer(path),
            inbox=Inbox(settings.folder / "inbox"),
            actor=actor,
            login=await github.login(),
        )
        lease = BotLease(mirror, actor, sole=settings.sole, once=settings.once)
        yield Loop(desk=desk, wake=Wake(), lease=lease, tell=tell)


@asynccontextmanager
async def door(loop: Loop, port: int) -> AsyncIterator[int]:
    """Serve the webhook door on loopback and give its port (0 chooses one)."""
    settings = loop.desk.settings
    app = Door(
        secret=settings.secret,
        repository=settings.repository,
        label=settings.label,
        inbox=loop.desk.inbox,
        wake=loop.wake,
    ).application()
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


async def until_done(loop: Loop, *, seen: Callable[[], None] = lambda: None) -> None:
    """Tick until the roles owe nothing and wait for nothing; then free the lease.

    Args:
        loop: an opened one.
        seen: is called after each tick.
    """
    while True:
        again = await loop.tick()
        seen()
        if not again and not loop.owes():
            await loop.release()
            return
        await loop.wake.wait(RETRY_S if again else loop.desk.settings.sweep_s)


async def forever(loop: Loop) -> None:
    """Tick until cancelled; the lease is freed whenever nothing is owed."""
    while True:
        again = await loop.tick()
        if not again and not loop.owes():
            await loop.release()
        await loop.wake.wait(RETRY_S if again else loop.desk.settings.sweep_s)
