"""The service for many repositories as a whole: its host and its doors."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

import pygit2

from bot.door.listening import listening
from bot.door.oidc import Issuer, issuer_of
from bot.forge import transport
from bot.forge.transport import DEADLINE_S
from bot.serving.bot_service import Tell
from bot.serving.host import Host
from bot.serving.hosted_door import opened_door
from bot.serving.installations import Installations, key_of
from bot.serving.lost_deliveries import LostDeliveries
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

    Args:
        hosting: the service's settings.
        tell: called with a line for each problem or wait.
        poll: whether to open no door and find all work by looking.

    Raises:
        BratError: there is no secret, the key cannot be read, or a port is taken.
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
        roster = await _roster(stack, hosting)
        await _listen(stack, host, poll=poll)
        group = await stack.enter_async_context(asyncio.TaskGroup())
        own = [
            group.create_task(host.keep(group, roster), name="roster"),
            group.create_task(host.figures.keep_timing(), name="timing"),
        ]
        if roster is not None and not poll:
            host.lost = LostDeliveries(roster, host.metrics, tell)
            asking = host.lost.keep_asking(hosting.roster_s)
            own.append(group.create_task(asking, name="lost deliveries"))
        try:
            yield host
        finally:
            for task in [*own, *host.tasks()]:
                task.cancel()


async def _roster(
    stack: AsyncExitStack, hosting: ServiceSettings
) -> Installations | None:
    if hosting.app_id is None or hosting.private_key_file is None:
        return None
    key = key_of(hosting.app_id, hosting.private_key_file)
    client = transport.async_client(DEADLINE_S)
    await stack.enter_async_context(client)
    return Installations(client, hosting.api_url, key)


async def _issuer(stack: AsyncExitStack, hosting: ServiceSettings) -> Issuer | None:
    """Return the issuer that vouches for jobs; None: no feed address is set."""
    if not hosting.feed_url:
        return None
    client = transport.async_client(DEADLINE_S)
    await stack.enter_async_context(client)
    url = hosting.feed_issuer or issuer_of(hosting.api_url)
    audience = hosting.feed_url.rstrip("/")
    return Issuer(client, url, audience, hosting.folder / "feed.used")


async def _listen(stack: AsyncExitStack, host: Host, *, poll: bool) -> None:
    """Open the door for deliveries, and the port for metrics."""
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
        host.port = await stack.enter_async_context(
            opened_door(host, await _issuer(stack, hosting))
        )
    if hosting.metrics_port is not None:
        site = listening(metrics.application(), hosting.address, hosting.metrics_port)
        host.metrics_port = await stack.enter_async_context(site)
