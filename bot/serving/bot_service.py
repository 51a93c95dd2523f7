"""One bot: its tools, its door and its loop, opened and closed together.

How it is let into its repository: tokens, pace, and the repository's identity.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import httpx
from aiohttp import web
from msgspec import structs

from bot.door import feed
from bot.door.feed import Feed, JobOrigin, kept_key
from bot.door.feed_endpoint import FeedEndpoint, Finds
from bot.door.inbox import Inbox, Wake
from bot.door.listening import listening
from bot.door.webhooks import DeliveryPlace, Door
from bot.forge import transport
from bot.forge.github import GitHub
from bot.forge.github_actions import SECRETS_RIGHT
from bot.forge.pace import Pace, pacing
from bot.forge.rest import Refused, Rest, StaticToken, Tokens
from bot.forge.transport import DEADLINE_S, Precedence, going
from bot.loop.loop import PATIENCE_S, Loop
from bot.loop.pushing import BotLease
from bot.loop.staging import owes
from bot.repository.commits import Commits
from bot.repository.compose import Composer
from bot.repository.mirror import Mirror, collect_mirror
from bot.requests.answers import acknowledging
from bot.roles.bot_context import BotContext
from bot.settings import bot_folder
from bot.settings.bot_settings import Settings
from grite import signatures
from grite.errors import Unavailable
from grite.event import ID_BYTES
from grite.signatures import Authority

if TYPE_CHECKING:  # cryptography is slow to load
    from bot.door.oidc import Issuer
    from bot.forge.app_auth import AppTokens


Tell = Callable[[str], None]
MIRROR: Final = "mirror.git"


@asynccontextmanager
async def opened(
    settings: Settings,
    tell: Tell,
    *,
    wake: Wake | None = None,
    pace: Pace | None = None,
) -> AsyncIterator[Loop]:
    """Give the loop of a bot with its context; nothing is written before a tick.

    `pace` is shared with the installation's other repositories; None: its own.
    """
    settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    known = settings.repository_id or bot_folder.owner_of(settings.folder)
    settings = settings.model_copy(update={"repository_id": known})
    async with AsyncExitStack() as stack:
        client = transport.async_client(DEADLINE_S)
        await stack.enter_async_context(client)
        is_app = settings.app_id is not None
        apps = await _app_tokens(stack, client, settings) if is_app else []
        tokens: Sequence[Tokens] = apps or [StaticToken(settings.token)] * 2
        how = pacing(settings.gap_s, of_a_job=settings.by_job)
        pace = pace or Pace(how, clock=apps[0].clock if apps else None)
        login = await apps[0].login() if apps else ""  # else it can ask for its own
        github = GitHub(
            client,
            api_url=settings.api_url,
            repository=settings.repository,
            token=tokens[0],
            pace=pace,
            workflow=settings.workflow,
        )
        with going(Precedence.ANSWER):
            number = known or await github.number()
            if known:
                await github.confirm(known)
            bot_folder.claim_folder(settings.folder, settings.repository, number)
            for each in apps:  # later tokens are asked for by what no rename changes
                each.grant = replace(each.grant, repository_id=number)
            settings = settings.model_copy(update={"repository_id": number})
            await asyncio.to_thread(collect_mirror, settings.folder / MIRROR)
            mirror = await _mirror(settings, github, await tokens[0].token())
        # The bot's id is drawn at random the first time.
        actor, bell = kept_key(settings.folder / "actor", ID_BYTES), wake or Wake()
        name = (await github.described()).full_name if settings.feed_url else ""

        def origin() -> JobOrigin | None:
            ref = f"refs/heads/{mirror.default_branch}"
            file = f"{name}/.github/workflows/{settings.workflow}@{ref}"
            return JobOrigin(name, number, file) if name else None

        context = BotContext(
            settings=settings,
            github=github,
            mirror=mirror,
            commits=Commits(mirror.path, mirror.ensure),
            composer=Composer(settings.folder / MIRROR),
            inbox=Inbox(settings.folder / "inbox"),
            actor=actor,
            login=login or await github.login(),
            feed=Feed(
                settings.folder,
                settings.repository,
                lambda: mirror.state,
                lambda: bell.up("runs"),
                origin,
            ),
        )
        if not settings.sole:  # `brat doctor --engines` looks on the person's machine
            url, token = settings.api_url, tokens[1]
            context.onlooker = Rest(client, api_url=url, token=token)
        nonce = str(uuid.uuid4())
        dead = stack.enter_context(bot_folder.held_folder(settings.folder, nonce))
        sole = settings.sole
        lease = BotLease(mirror, actor, sole=sole, dead=dead, nonce=nonce)
        if "mayor" in settings.roles:
            await stack.enter_async_context(acknowledging(context, bell, tell))
        yield Loop(context=context, wake=bell, lease=lease, tell=tell)


async def _app_tokens(
    stack: AsyncExitStack, client: httpx.AsyncClient, settings: Settings
) -> list["AppTokens"]:
    """Return the App's tokens, and those that list the names of secrets.

    The last of each are revoked when the stack is left.
    """
    # Cryptography is slow to load, and a bot with a token does not need it.
    from bot.forge.app_auth import AppTokens, Grant, app_key_of

    grant = Grant(
        repository=settings.repository,
        repository_id=settings.repository_id,
        installation=settings.installation,
    )
    key = app_key_of(settings)
    assert key is not None  # noqa: S101  its App has one: see `Common`
    grants = grant, replace(grant, permissions=SECRETS_RIGHT)
    made = [
        AppTokens(client, api_url=settings.api_url, app=key, grant=g) for g in grants
    ]
    return [await stack.enter_async_context(each) for each in made]


async def _mirror(settings: Settings, github: GitHub, token: str) -> Mirror:
    """Return the mirror, with the key that signs the log and those that may."""
    folder = settings.key_folder or settings.folder
    file = settings.log_key_file
    key = bot_folder.read_log_key(file) if file else bot_folder.log_key_in(folder)
    signers = key.signers | signatures.parse_signers(settings.allowed_signers)
    here = asyncio.get_running_loop()  # the mirror works in other threads
    opening = partial(
        Mirror,
        authority=Authority(str(settings.repository_id), signers),
        sign=key.sign,
        confirm=lambda: asyncio.run_coroutine_threadsafe(
            github.confirm(settings.repository_id), here
        ).result(),
    )
    url = f"{settings.git_url}/{settings.repository}.git"
    mirror = await asyncio.to_thread(opening, settings.folder / MIRROR, url, token)
    mirror.adopt = settings.adopt_log
    if mirror.is_new:
        mirror.witnesses = await github.runs.logs()
    return mirror


@asynccontextmanager
async def door(
    loop: Loop, port: int, unready: Callable[[], str | None] = lambda: None
) -> AsyncIterator[int]:
    """Serve the webhook door on loopback and give its port; 0 chooses one."""
    settings = loop.context.settings
    place = DeliveryPlace(
        label=settings.label,
        login=loop.context.login,
        inbox=loop.context.inbox,
        wake=loop.wake,
    )
    app = Door(
        secrets=settings.secrets,
        place=lambda told: place if told.id == settings.repository_id else None,
        unready=unready,
    ).application()
    feeds = {settings.repository.casefold(): loop.context.feed}
    with_feed(app, feeds.get)
    async with listening(app, "127.0.0.1", port) as bound:
        if "witness" in settings.roles:  # other bots end soon
            feed.note_port(settings.folder, bound)
        yield bound


def with_feed(
    app: web.Application, finds: Finds, issuer: "Issuer | None" = None
) -> None:
    app.add_subapp(feed.FEED_PATH, FeedEndpoint(finds, issuer).application())


async def until_done(loop: Loop, *, seen: Callable[[], None] = lambda: None) -> None:
    """Tick until the roles owe nothing and wait for nothing; then free the lease.

    `seen` is called after each tick.

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
        limited = loop.context.troubles.resume_at > loop.context.clock()
        if not again or limited:
            moved_at = loop.context.clock()
        elif loop.context.clock() - moved_at > PATIENCE_S * 1000:
            raise Unavailable("; ".join(loop.context.troubles.values()))
        await loop.wait(again=again)


async def forever(loop: Loop, *, seen: Callable[[bool], None] = lambda _: None) -> None:
    """Tick until cancelled; `seen` is told after each tick whether it was cut short."""
    while True:
        again = await tick(loop)
        seen(again)
        if not again and not owes(loop.context):
            await loop.release()
        await loop.wait(again=again)


async def tick(loop: Loop) -> bool:
    """Give git a valid token, and tick; return whether to try again soon.

    Raises:
        AnotherRepository: another repository took the name of the one that is served.
    """
    context, name = loop.context, "token"
    mirror, settings = context.mirror, context.settings
    try:
        token = await context.github.rest.tokens.token()
        await context.github.confirm(settings.repository_id)
        is_asked = mirror.committed is not None and mirror.believes_branch is None
        if is_asked and not settings.sole:  # whether only approved changes reach it
            with going(Precedence.ANSWER):  # no answer leaves before it is known
                rules = await context.github.branch_rules.of(mirror.default_branch)
            pinned = settings.allowed_signers
            found, why = bot_folder.source_in_force(pinned, has_file=True, rules=rules)
            mirror.believes_branch = found == "file"
            loop.tell(f"allowed signers: {why}")
            loop.wake.up("refs")  # what they signed counts from the next look on
    except (Unavailable, Refused) as error:
        loop.cut_short(name, error)
        return True
    context.troubles.pop(name, None)
    if mirror.remote.token != token:
        mirror.remote = structs.replace(mirror.remote, token=token)
    return await loop.tick()
