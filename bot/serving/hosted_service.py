"""The service for many repositories as a whole: its host, door and front processes.

What strangers reach is a process of its own, which is started again if it ends. The
listening socket is ours: while no front lives, connections wait in it.
"""

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec
import pygit2
from aiohttp import web

from bot import VERSION, wall_clock
from bot.door.front_link import (
    DeliveryAnswered,
    Destination,
    Destinations,
    FromFront,
    Logged,
    Opened,
    PartChanged,
    RequestKept,
    RosterChanged,
    Setup,
)
from bot.door.listening import listener_at, listening, listening_behind
from bot.door.oidc import Issuer, issuer_of
from bot.door.webhooks import READY_PATH as READY, readiness
from bot.forge import transport
from bot.forge.transport import DEADLINE_S
from bot.serving import bot_service
from bot.serving.bot_service import Tell
from bot.serving.github_app import Installations, read_app_key
from bot.serving.host import Host
from bot.settings.bot_settings import ServiceSettings
from bot.settings.hosts import Origins
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
        roster = await _roster(stack, hosting)
        await _listen(stack, host, poll=poll)
        group = await stack.enter_async_context(asyncio.TaskGroup())
        keeping = group.create_task(host.keep(group, roster), name="roster")
        try:
            yield host
        finally:
            for task in [keeping, *host.tasks()]:
                task.cancel()


async def _roster(
    stack: AsyncExitStack, hosting: ServiceSettings
) -> Installations | None:
    if hosting.app_id is None or hosting.private_key_file is None:
        return None
    key = read_app_key(hosting.app_id, hosting.private_key_file)
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


PROGRAM: Final = "bot.door.front_program"
START_S: Final = 60.0
END_S: Final = 3.0
AGAIN_S: Final = 0.2
AGAIN_MOST_S: Final = 30.0
LINE_BYTES: Final = 1_000_000
PASSED_ON: Final = ("PATH", "LANG", "LC_ALL", "TZ", "PYTHONDEVMODE", "PYTHONHASHSEED")
"""All that a front has of our environment, in which secrets may be."""

Heard = Callable[[FromFront], None]
_from_front: Final = msgspec.json.Decoder(FromFront)
_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Front:
    name: str
    """What people call it."""
    address: str
    port: int
    """0 chooses one."""
    origins: Origins
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """The webhook's; empty: it takes no deliveries."""
    heard: Heard = lambda _: None
    """Called with each of its messages."""
    tell: Tell
    """Called with a line when it ended by itself."""


class FrontProcess:
    """One front and its messages; for one event loop."""

    def __init__(self, front: Front, setup: Setup) -> None:
        self._front = front
        self._setup = setup
        self._process: asyncio.subprocess.Process | None = None
        self._destinations = Destinations(())
        self.opened = asyncio.Event()
        """Set while it serves."""

    @property
    def number(self) -> int:
        return self._process.pid if self._process is not None else 0

    def tell_destinations(self, told: Destinations) -> None:
        if told != self._destinations:
            self._destinations = told
            self._write(told)

    def _write(self, told: Setup | Destinations) -> None:
        process = self._process
        if process is not None and process.stdin is not None:
            process.stdin.write(msgspec.json.encode(told) + b"\n")

    async def keep(self) -> None:
        """Keep a front running until cancelled."""
        again_s = AGAIN_S
        while True:
            begun = wall_clock()
            await self._run()
            if wall_clock() - begun > AGAIN_MOST_S * 1000:
                again_s = AGAIN_S
            self._front.tell(
                f"the process of the {self._front.name} ended: it is started again"
            )
            await asyncio.sleep(again_s)
            again_s = min(again_s * 2, AGAIN_MOST_S)

    async def _run(self) -> None:
        self._process = process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-m", PROGRAM),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={each: os.environ[each] for each in PASSED_ON if each in os.environ},  # noqa: TID251  for a child
            pass_fds=(self._setup.listener,),
            limit=LINE_BYTES,
        )
        try:
            self._write(self._setup)
            self._write(self._destinations)
            await self._hear(process)
        finally:
            self.opened.clear()
            self._process = None
            await _ended(process)

    async def _hear(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None  # noqa: S101  it is a pipe
        while line := await process.stdout.readline():
            told = _from_front.decode(line)
            if isinstance(told, Opened):
                self.opened.set()
            elif isinstance(told, Logged):
                logging.getLogger(told.logger).log(told.level, "%s", told.line)
            else:
                self._front.heard(told)


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Let a front end, and make it end if it does not."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(END_S):
            await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


@asynccontextmanager
async def fronted(
    front: Front, app: web.Application
) -> AsyncIterator[tuple[FrontProcess, int]]:
    """Serve an application behind a front; give the front and its port."""
    with (
        listener_at(front.address, front.port) as listener,
        TemporaryDirectory(prefix="brat-") as folder,  # a short path: sockets need one
    ):
        behind = Path(folder) / "bot.sock"
        setup = Setup(
            listener=listener.fileno(),
            behind=str(behind),
            networks=tuple(str(each) for each in front.origins.networks),
            proxies=front.origins.proxies,
            secrets=front.secrets,
            version=VERSION,
        )
        process = FrontProcess(front, setup)
        async with (
            listening_behind(app, behind, front.origins),
            asyncio.TaskGroup() as group,
        ):
            keeping = group.create_task(process.keep(), name=f"{front.name}'s process")
            try:
                try:
                    async with asyncio.timeout(START_S):
                        await process.opened.wait()
                except TimeoutError:
                    why = f"a process of the bot does not serve within {START_S:g} s"
                    raise BratError(why) from None
                yield process, int(listener.getsockname()[1])
            finally:
                keeping.cancel()


LOOK_S: Final = 0.1
"""How often the destinations are compared with those the door knows."""


@asynccontextmanager
async def opened_door(host: Host, issuer: "Issuer | None") -> AsyncIterator[int]:
    """Serve the door for as long as the block lasts; give its port."""
    hosting, fronts = host.hosting, list[FrontProcess]()

    def unready() -> str | None:
        for front in fronts:  # whoever hears that we are ready may deliver at once
            front.tell_destinations(destinations(host))
        return host.unready()

    app = web.Application()
    app.router.add_get(READY, readiness(unready, host.troubles))
    bot_service.with_feed(app, host.feed_of, issuer)
    front = Front(
        name="door",
        address=hosting.address,
        port=hosting.port,
        origins=hosting.origins,
        secrets=hosting.secrets,
        heard=partial(_heard, host),
        tell=host.tell,
    )
    async with fronted(front, app) as (process, port), asyncio.TaskGroup() as group:
        fronts.append(process)
        telling = group.create_task(_keep_telling(host, process), name="places")
        try:
            yield port
        finally:
            telling.cancel()


def destinations(host: Host) -> Destinations:
    return Destinations(
        tuple(
            Destination(
                name=name,
                repository_id=one.place.repository_id,
                label=one.place.label,
                login=one.place.login,
                inbox=str(one.place.inbox.folder),
            )
            for name, one in host.served.items()
            if one.place is not None
        )
    )


async def _keep_telling(host: Host, front: FrontProcess) -> None:
    while True:
        front.tell_destinations(destinations(host))
        await asyncio.sleep(LOOK_S)


def _heard(host: Host, told: FromFront) -> None:
    match told:
        case RequestKept(name=name) if name in host.served:
            host.served[name].wake.keep()
        case PartChanged(name=name, part=part) if name in host.served:
            host.served[name].wake.up(part)
        case RosterChanged():
            host.roster_changed()
        case DeliveryAnswered(event=event, status=status):
            host.metrics.answered(event, status)
        case _:  # about a repository that is served no more
            pass
