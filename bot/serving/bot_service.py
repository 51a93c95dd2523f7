"""One bot: its tools, its door and its loop, opened and closed together."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import httpx
from aiohttp import web
from msgspec import structs

from bot.context.bot_context import BotContext, actor_of
from bot.door.delivery_inbox import Inbox
from bot.door.wake import Wake
from bot.door.webhooks import Door, Place
from bot.feed import handover
from bot.feed.feed_endpoint import FeedEndpoint, Finds
from bot.feed.job_origin import Origin
from bot.feed.repository_feed import Feed
from bot.forge import outbound_client
from bot.forge.github import GitHub
from bot.forge.pace import Pace, pacing
from bot.forge.rest import DEADLINE_S, Refused, Rest
from bot.forge.secret_names import RIGHT, secret_names
from bot.forge.token_source import StaticToken, Tokens
from bot.loop.acknowledging import acknowledging
from bot.loop.bot_lease import BotLease
from bot.loop.loop import Loop
from bot.loop.staging import owes
from bot.repository.compose import Composer
from bot.repository.mirror import Mirror
from bot.repository.mirrored_commits import MirroredCommits
from bot.settings.bot_settings import Settings
from bot.settings.version import VERSION
from grite.errors import BratError, Unavailable

if TYPE_CHECKING:  # cryptography is slow to load
    from bot.feed.oidc import Issuer

Tell = Callable[[str], None]
MIRROR: Final = "mirror.git"
PATIENCE_S: Final = 120.0
"""How long every tick may be cut short before a command gives up."""


@asynccontextmanager
async def opened(
    settings: Settings,
    tell: Tell,
    *,
    wake: Wake | None = None,
    pace: Pace | None = None,
) -> AsyncIterator[Loop]:
    """Give the loop of a bot with its context; nothing is written before a tick.

    Args:
        settings: the bot's settings.
        tell: called with a line for each problem or wait.
        wake: wakes the loop; None: one of its own.
        pace: the pace shared with the installation's other repositories; None: its own.

    Raises:
        Unavailable: the forge does not answer.
        Refused: the forge does not let the bot in.
        BratError: the App's private key cannot be read.
    """
    settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    async with AsyncExitStack() as stack:
        client = outbound_client.client(DEADLINE_S)
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

        context = BotContext(
            settings=settings,
            github=github,
            mirror=mirror,
            commits=MirroredCommits(mirror),
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
            context.secret_names = partial(secret_names, rest, settings.repository)
        lease = BotLease(mirror, actor, sole=settings.sole, once=settings.once)
        if "mayor" in settings.roles:
            await stack.enter_async_context(acknowledging(context, bell, tell))
        yield Loop(context=context, wake=bell, lease=lease, tell=tell)


@dataclass(frozen=True, kw_only=True)
class _WayIn:
    """The bot's tokens for the forge, and its pace."""

    tokens: Tokens
    onlooker: Tokens
    """Tokens for listing the names of secrets, where the bot may do that."""
    pace: Pace
    login: str | None = None
    """The App's account: unlike other accounts, an App cannot ask for its own."""


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
    from bot.serving.installations import key_of

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
async def door(
    loop: Loop, port: int, unready: Callable[[], str | None] = lambda: None
) -> AsyncIterator[int]:
    """Serve the webhook door on loopback and give its port (0 chooses one).

    Args:
        loop: an opened loop.
        port: the port.
        unready: returns why the bot cannot work now; None: it can.
    """
    settings = loop.context.settings
    places = {
        settings.repository.casefold(): Place(
            label=settings.label,
            login=loop.context.login,
            inbox=loop.context.inbox,
            wake=loop.wake,
        )
    }
    app = Door(
        secrets=settings.secrets,
        place_of=places.get,
        unready=unready,
        version=VERSION,
    ).application()
    feeds = {settings.repository.casefold(): loop.context.feed}
    with_feed(app, feeds.get)
    async with listening(app, "127.0.0.1", port) as bound:
        if "witness" in settings.roles:  # other bots end soon
            handover.note(settings.folder, bound)
        yield bound


def with_feed(
    app: web.Application, finds: Finds, issuer: "Issuer | None" = None
) -> None:
    """Add the feed of running sessions to a door."""
    app.add_subapp(handover.PATH, FeedEndpoint(finds, issuer).application())


@asynccontextmanager
async def listening(app: web.Application, host: str, port: int) -> AsyncIterator[int]:
    """Serve an application and give its port (0 chooses one).

    Bodies are not decoded: a decoded body could fill the memory.

    Raises:
        BratError: the address or port cannot be used.
    """
    runner = web.AppRunner(
        app, access_log=None, shutdown_timeout=1, auto_decompress=False
    )
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
        loop: an opened loop.
        seen: called after each tick.

    Raises:
        Unavailable: every tick was cut short for two minutes; the message says why.
    """
    moved_at = loop.context.clock()
    while True:
        again = await tick(loop)
        seen()
        if not again and not owes(loop.context):
            await loop.release()
            return
        limited = loop.troubles.resume_at > loop.context.clock()
        if not again or limited:
            moved_at = loop.context.clock()
        elif loop.context.clock() - moved_at > PATIENCE_S * 1000:
            raise Unavailable("; ".join(loop.context.troubles.values()))
        await loop.wait(again=again)


async def forever(loop: Loop, *, seen: Callable[[bool], None] = lambda _: None) -> None:
    """Tick until cancelled; the lease is freed whenever nothing is owed.

    Args:
        loop: an opened loop.
        seen: called after each tick with whether it was cut short.
    """
    while True:
        again = await tick(loop)
        seen(again)
        if not again and not owes(loop.context):
            await loop.release()
        await loop.wait(again=again)


async def tick(loop: Loop) -> bool:
    """Give git a valid token, and tick; return whether to try again soon."""
    context, name = loop.context, "token"
    try:
        token = await context.github.token()
    except (Unavailable, Refused) as error:
        loop.cut_by = error
        loop.troubles.note(name, error)
        return True
    context.troubles.pop(name, None)
    if context.mirror.remote.token != token:
        context.mirror.remote = structs.replace(context.mirror.remote, token=token)
    return await loop.tick()
