"""The service for many repositories as a whole: its host, its door and its metrics."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

import httpx
import pygit2

from bot import VERSION
from bot.door.listening import listener_at, listening, serving_on
from bot.door.oidc import Issuer, issuer_of
from bot.door.webhooks import Door
from bot.forge import transport
from bot.forge.transport import DEADLINE_S
from bot.serving import bot_service
from bot.serving.bot_service import Tell
from bot.serving.github_app import Installations, read_app_key
from bot.serving.host import Host
from bot.settings.bot_settings import ServiceSettings
from grite.errors import BratError

THREADS: Final = 256
"""How many blocking git calls may hang before they hold up other repositories."""
OPEN_PACKS: Final = 256
"""How many files of all repositories' packs are open at once. libgit2 would keep each
open that it has ever looked into, and many systems allow a process 1,024 files.
https://libgit2.org/docs/reference/main/common/git_libgit2_opts.html
"""


@asynccontextmanager
async def hosted(
    hosting: ServiceSettings, tell: Tell, *, poll: bool = False
) -> AsyncIterator[Host]:
    """Serve for as long as the block lasts.

    With `poll` no door is opened, and all work is found by looking.
    """
    if not poll and not hosting.secrets:
        raise BratError(
            "secret: the webhook has none, so anybody could send deliveries: set one "
            "here and on the forge, or serve with --poll"
        )
    hosting.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    pygit2.settings.mwindow_file_limit = OPEN_PACKS
    host = Host(hosting, tell)
    threads = ThreadPoolExecutor(THREADS, "bot")
    asyncio.get_running_loop().set_default_executor(threads)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(transport.async_client(DEADLINE_S))
        roster = None
        if hosting.app_id is not None and hosting.private_key_file is not None:
            key = read_app_key(hosting.app_id, hosting.private_key_file)
            roster = Installations(client, hosting.api_url, key)
        await _listen(stack, host, client, poll=poll)
        group = await stack.enter_async_context(asyncio.TaskGroup())
        keeping = group.create_task(host.keep(group, roster), name="roster")
        try:
            yield host
        finally:
            for task in [keeping, *host.tasks()]:
                task.cancel()


def _issuer(client: httpx.AsyncClient, hosting: ServiceSettings) -> Issuer | None:
    """Return the issuer that vouches for jobs; None: no feed address is set."""
    if not hosting.feed_url:
        return None
    url = hosting.feed_issuer or issuer_of(hosting.api_url)
    audience = hosting.feed_url.rstrip("/")
    return Issuer(client, url, audience, hosting.folder / "feed.used")


async def _listen(
    stack: AsyncExitStack, host: Host, client: httpx.AsyncClient, *, poll: bool
) -> None:
    hosting, metrics = host.hosting, host.metrics
    metrics.watch(
        "brat_repositories", "Repositories that are served.", lambda: len(host.served)
    )
    metrics.watch(
        "brat_repositories_broken",
        "Those whose loop cannot run.",
        lambda: sum(bool(one.trouble) for one in host.served.values()),
    )
    metrics.watch(
        "brat_installations_broken",
        "Those that do not show their repositories.",
        lambda: len(host.broken),
    )
    if not poll:
        app = Door(
            secrets=hosting.secrets,
            place_of=host.place_of,
            place_with=host.place_with,
            roster_changed=host.roster_changed,
            unready=host.unready,
            troubles=host.troubles,
            version=VERSION,
            origins=hosting.origins,
            answered=metrics.answered,
        ).application()
        bot_service.with_feed(app, host.feed_of, _issuer(client, hosting))
        listener = listener_at(hosting.address, hosting.port)
        door = serving_on(listener, app, origins=hosting.origins)
        host.port = await stack.enter_async_context(door)
    if hosting.metrics_port is not None:
        site = listening(metrics.application(), hosting.address, hosting.metrics_port)
        host.metrics_port = await stack.enter_async_context(site)
