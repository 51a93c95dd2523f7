"""One bot: its desk, its door and its loop, opened and closed together."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import httpx
from aiohttp import web
from msgspec import structs

from bot.desk import Desk, actor_of
from bot.door.inbox import Inbox
from bot.door.webhooks import Door, Place
from bot.feed import handover
from bot.feed.feed import Feed
from bot.feed.origin import Origin
from bot.feed.reception import Finds, Reception
from bot.forge.github import GitHub
from bot.forge.pace import Pace, pacing
from bot.forge.rest import DEADLINE_S, Refused, Rest
from bot.forge.secret_names import RIGHT, secret_names
from bot.forge.tokens import StaticToken, Tokens
from bot.lease import BotLease
from bot.loop import Loop
from bot.repository.compose import Composer
from bot.repository.mirror import Mirror
from bot.settings import Settings
from bot.version import VERSION
from bot.wake import Wake
from grite.errors import BratError, Unavailable

if TYPE_CHECKING:  # cryptography is slow to load
    from bot.feed.identity import Issuer

Tell = Callable[[str], None]
MIRROR: Final = "mirror.git"
PATIENCE: Final = 120
"""Ticks in a row, a second apart, that may be cut short before a command gives up."""


@asynccontextmanager
async def opened(
    settings: Settings,
    tell: Tell,
    *,
    wake: Wake | None = None,
    pace: Pace | None = None,
) -> AsyncIterator[Loop]:
    """Give the loop of a bot, with what it works on; nothing is sent before a tick.

    Args:
        settings: of the bot.
        tell: is told what goes wrong or waits, a line each.
        wake: what wakes the loop; None: one of its own.
        pace: what it shares with the installation's other repositories, if anything.

    Raises:
        Unavailable: the forge does not answer.
        Refused: it does not let the bot in.
        BratError: the App's private key cannot be read.
    """
    settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    async with AsyncExitStack() as stack:
        limits = httpx.Limits(max_connections=16)
        client = httpx.AsyncClient(timeout=DEADLINE_S, limits=limits, trust_env=False)
        await stack.enter_async_context(client)
        way_in = await stack.enter_async_context(_let_in(client, settings, pace))
        github = GitHub(
            client,
            api_url=settings.api_url,
            repository=settings.repository,
            token=way_in.tokens,
            pace=way_in.pace,
            workflow=settings.workflow,
        )
        path = settings.folder / MIRROR
        url = f"{settings.git_url}/{settings.repository}.git"
        token = await way_in.tokens.token()
        mirror = await asyncio.to_thread(Mirror.open, path, url, token)
        actor, bell = actor_of(settings.folder), wake or Wake()
        name, number = await github.named() if settings.feed_url else ("", 0)

        def origin() -> Origin | None:
            ref = f"refs/heads/{mirror.default_branch}"
            file = f"{name}/.github/workflows/{settings.workflow}@{ref}"
            return Origin(name, number, file) if number else None

        desk = Desk(
            settings=settings,
            github=github,
            mirror=mirror,
            composer=Composer(path),
            inbox=Inbox(settings.folder / "inbox"),
            actor=actor,
            login=way_in.login or await github.login(),
            feed=Feed(
                settings.folder,
                settings.repository,
                lambda: mirror.state,
                settings.feed_token,
                lambda: bell.up("runs"),
                origin,
            ),
        )
        if not settings.sole:  # `brat doctor --engines` looks on the person's machine
            rest = Rest(client, api_url=settings.api_url, token=way_in.onlooker)
            desk.secret_names = partial(secret_names, rest, settings.repository)
        lease = BotLease(mirror, actor, sole=settings.sole, once=settings.once)
        yield Loop(desk=desk, wake=bell, lease=lease, tell=tell)


@dataclass(frozen=True, kw_only=True)
class _WayIn:
    """What the bot shows the forge, and how fast it may come."""

    tokens: Tokens
    onlooker: Tokens
    """What shows which secrets there are, where the bot may see that."""
    pace: Pace
    login: str | None = None
    """Of an App: unlike others, it cannot ask who it is."""


@asynccontextmanager
async def _let_in(
    client: httpx.AsyncClient, settings: Settings, pace: Pace | None
) -> AsyncIterator[_WayIn]:
    how = pacing(settings.gap_s)
    if settings.app_id is None or settings.private_key_file is None:
        own_token = StaticToken(settings.token)
        yield _WayIn(tokens=own_token, onlooker=own_token, pace=pace or Pace(how))
        return
    # Cryptography is slow to load, and a bot with a token does not need it.
    from bot.forge.app_auth import AppTokens, Grant
    from bot.serving.roster import key_of

    grant = Grant(repository=settings.repository, installation=settings.installation)
    source = partial(
        AppTokens,
        client,
        api_url=settings.api_url,
        app=key_of(settings.app_id, settings.private_key_file),
    )
    async with (
        source(grant=grant) as tokens,
        source(grant=replace(grant, permissions=RIGHT)) as onlooker,
    ):
        own, login = pace or Pace(how, clock=tokens.clock), await tokens.login()
        yield _WayIn(tokens=tokens, onlooker=onlooker, pace=own, login=login)


@asynccontextmanager
async def door(loop: Loop, port: int) -> AsyncIterator[int]:
    """Serve the webhook door on loopback and give its port (0 chooses one)."""
    settings = loop.desk.settings
    places = {
        settings.repository.casefold(): Place(
            label=settings.label,
            login=loop.desk.login,
            inbox=loop.desk.inbox,
            wake=loop.wake,
        )
    }
    app = Door(
        secrets=settings.secrets, place_of=places.get, version=VERSION
    ).application()
    feeds = {settings.repository.casefold(): loop.desk.feed}
    with_feed(app, feeds.get)
    async with listening(app, "127.0.0.1", port) as bound:
        if "witness" in settings.roles:  # others only come and go
            handover.note(settings.folder, bound)
        yield bound


def with_feed(
    app: web.Application, finds: Finds, issuer: "Issuer | None" = None
) -> None:
    """Let a door receive what running sessions send, too."""
    app.add_subapp(handover.PATH, Reception(finds, issuer).application())


@asynccontextmanager
async def listening(app: web.Application, host: str, port: int) -> AsyncIterator[int]:
    """Serve an application and give its port (0 chooses one).

    Raises:
        BratError: nobody can listen there.
    """
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except OSError as error:
            raise BratError(f"cannot listen on {host}:{port}: {error}") from error
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


async def until_done(loop: Loop, *, seen: Callable[[], None] = lambda: None) -> None:
    """Tick until the roles owe nothing and wait for nothing; then free the lease.

    Args:
        loop: an opened one.
        seen: is called after each tick.

    Raises:
        Unavailable: every tick was cut short for two minutes; it says by what.
    """
    cut_short = 0
    while True:
        again = await tick(loop)
        seen()
        if not again and not loop.owes():
            await loop.release()
            return
        limited = loop.resume_at > loop.desk.clock()
        cut_short = cut_short + 1 if again and not limited else 0
        if cut_short > PATIENCE:
            raise Unavailable("; ".join(loop.desk.troubles.values()))
        await loop.wake.wait(loop.retry_s if again else loop.desk.settings.sweep_s)


async def forever(loop: Loop, *, seen: Callable[[bool], None] = lambda _: None) -> None:
    """Tick until cancelled; the lease is freed whenever nothing is owed.

    Args:
        loop: an opened one.
        seen: is told after each tick whether it was cut short.
    """
    while True:
        again = await tick(loop)
        seen(again)
        if not again and not loop.owes():
            await loop.release()
        await loop.wake.wait(loop.retry_s if again else loop.desk.settings.sweep_s)


async def tick(loop: Loop) -> bool:
    """Let git show a token that is good now, and tick; whether to try again soon."""
    desk, name = loop.desk, "token"
    try:
        token = await desk.github.token()
    except (Unavailable, Refused) as error:
        if desk.troubles.get(name) != str(error):
            desk.troubles[name] = str(error)
            loop.tell(str(error))
        return True
    desk.troubles.pop(name, None)
    if desk.mirror.remote.token != token:
        desk.mirror.remote = structs.replace(desk.mirror.remote, token=token)
    return await loop.tick()
