"""One service for many repositories: its door, and a loop and mirror for each.

No repository holds up another: each has its own task, client and room in the thread
pool, and a broken loop is restarted, later each time. The repositories of one
installation share its budget on the forge, and therefore a pace.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from time import monotonic
from typing import Final

import httpx
import pygit2

from bot import wall_clock
from bot.door.feed import Feed
from bot.door.inbox import Inbox, Wake
from bot.door.listening import listener_at, listening, serving_on
from bot.door.oidc import Issuer, issuer_of
from bot.door.webhooks import DeliveryPlace, Door
from bot.forge import transport
from bot.forge.app_auth import app_key_of
from bot.forge.github import GitHub
from bot.forge.pace import Pace, pacing
from bot.forge.payloads import Repository
from bot.forge.transport import DEADLINE_S
from bot.loop.loop import Loop
from bot.repository.mirror import has_grown
from bot.serving import bot_service
from bot.serving.bot_service import Tell
from bot.serving.github_app import Covered, Installations
from bot.serving.service_metrics import RepositoryStanding, ServiceMetrics
from bot.settings.bot_settings import ServiceSettings, Settings
from convoy.model.ids import HOUR_MS
from convoy.text import cut
from grite.errors import BratError


@dataclass(kw_only=True)
class Served:
    name: str
    installation: int | None
    """Of the App; None: there is no App."""
    number: int
    """The forge's id of the repository; 0: not known yet."""
    hosting: ServiceSettings
    pace: Pace
    wake: Wake = field(default_factory=Wake)
    settings: Settings | None = None
    """None: its id is not known yet."""
    place: DeliveryPlace | None = None
    """Where its deliveries go; None: its id is not known yet."""
    loop: Loop | None = None
    """None: the loop is not open."""
    trouble: str = ""
    fault: str = ""
    """The last trouble that was a bug in brat, whose place was logged."""

    @property
    def standstill(self) -> str:
        """Why nothing moves, or why its loop is not open; empty: it moves."""
        if self.loop is not None:
            return self.loop.standstill
        return self.trouble and f"its loop cannot run: {self.trouble}"

    def settle(self, number: int) -> Settings:
        """Open the folder of the repository with this id; safe to call again.

        Raises:
            OSError: the folder cannot be made.
        """
        if self.settings is not None and self.settings.repository_id == number:
            return self.settings
        settings = self.hosting.of(self.name, self.installation, number)
        # An App's account is known; another's is asked for when the loop is opened.
        self.place = DeliveryPlace(
            label=settings.label,
            login=f"{settings.app}[bot]",
            inbox=Inbox(settings.folder / "inbox"),
            wake=self.wake,
        )
        self.settings = settings
        return settings


def starts_beside(one: Served, served: Mapping[str, Served]) -> Iterator[int]:
    """Give the start times of convoys in the installation's other repositories."""
    after = wall_clock() - HOUR_MS
    for other in served.values():
        if other is not one and other.pace is one.pace and other.loop is not None:
            for _, known in other.loop.context.mirror.state.convoys.summaries():
                if known.requested_at > after:
                    yield known.requested_at


AGAIN_S: Final = 1.0
AGAIN_MOST_S: Final = 300.0
RELEASE_S: Final = 5.0
SIZED_S: Final = 600.0
"""How often it is looked whether a mirror in use has to be collected."""
OUTGROWN: Final = "its mirror has grown, so brat is removing unused objects"
"""Why a loop leaves its mirror: to open it again collects it."""
WHY_CHARS: Final = 1_000

_log: Final = logging.getLogger(__name__)


class Host:
    def __init__(self, hosting: ServiceSettings, tell: Tell) -> None:
        self.hosting = hosting
        self.tell = tell
        self.served: dict[str, Served] = {}
        """By full name in lower case."""
        self.port = 0
        """The door's port; 0: there is no door."""
        self.metrics_port = 0
        self.known = asyncio.Event()
        """Set once the list of repositories has been read."""
        self._changed = asyncio.Event()
        self._paces: dict[int | None, Pace] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self._trouble = ""
        self.broken: dict[int, str] = {}
        """The installations whose repositories are not known, and why."""
        self.unserved: dict[str, str] = {}
        """The repositories that have no place on the disk, and why."""
        self.metrics = ServiceMetrics(self._standing, self.standing_still, wall_clock)

    def place(self, told: Repository) -> DeliveryPlace | None:
        named = self.served.get(told.full_name.casefold())
        for one in chain((named,) if named else (), self.served.values()):
            if one.settings is not None and one.settings.repository_id == told.id:
                return one.place  # by its id, whatever its name is now
        return None

    def feed_of(self, name: str) -> Feed | None:
        one = self.served.get(name)
        return one.loop.context.feed if one and one.loop else None

    def unready(self) -> str | None:
        """Return why the service cannot work at all; None: it can."""
        if self._trouble:
            return self._trouble
        if not self.known.is_set():
            return "looking up the repositories"
        still = self.standing_still()
        if still and all(still.values()):
            return "; ".join(_stands(name, why) for name, why in still.items())
        return None

    def standing_still(self) -> dict[str, str]:
        """Return why each served repository stands still; empty: it moves."""
        return {one.name: one.standstill for one in self.served.values()}

    def troubles(self) -> Iterator[str]:
        yield from self.broken.values()
        yield from self.unserved.values()
        for name, why in self.standing_still().items():
            if why:
                yield _stands(name, why)

    def roster_changed(self) -> None:
        """Look at the App's installations at once, and try what was refused again."""
        self._changed.set()
        for one in self.served.values():
            one.wake.up("rights")

    async def keep(
        self, group: asyncio.TaskGroup, roster: Installations | None
    ) -> None:
        """Keep serving the wanted repositories, until cancelled."""
        hosting = self.hosting
        while True:
            self._changed.clear()
            try:
                wanted = dict.fromkeys(hosting.repositories, Covered())
                if roster is not None:
                    wanted = await self._covered(roster)
                self._trouble = ""
                await self._settle(group, wanted)
                self.known.set()
            except BratError as error:
                if self._trouble != str(error):
                    self._trouble = str(error)
                    self.tell(self._trouble)
            with suppress(TimeoutError):
                async with asyncio.timeout(hosting.roster_s):
                    await self._changed.wait()

    async def _covered(self, roster: Installations) -> dict[str, Covered]:
        """Return the wanted repositories; a broken installation keeps those it had."""
        known = {*self.broken, *(one.installation for one in self.served.values())}
        served, broken = await roster.coverage(self.hosting, known)
        for number, why in broken.items():
            if self.broken.get(number) != why:
                self.tell(why)
        self.broken = broken
        return {
            **{
                one.name: Covered(one.installation, one.number)
                for one in self.served.values()
                if one.installation in broken
            },
            **served,
        }

    async def _settle(
        self, group: asyncio.TaskGroup, wanted: Mapping[str, Covered]
    ) -> None:
        """Start serving new repositories, and stop serving those no longer wanted.

        A name that stands for another repository now is a new one; a repository that
        was renamed or transferred keeps its folder, which one loop leaves before the
        next one opens it.
        """
        names = {name.casefold(): name for name in wanted}
        ended = []
        for key, one in [*self.served.items()]:
            if key in names and one.number == wanted[names[key]].number:
                continue
            self.tell(f"{key}: no longer served")
            ended.append(self.tasks.pop(key))
            ended[-1].cancel()
            del self.served[key]
        if ended:
            await asyncio.wait(ended)
        unserved: dict[str, str] = {}
        for key, name in names.items():
            if key in self.served:
                continue
            installation, number = wanted[name]
            pace = Pace(pacing(self.hosting.gap_s))
            one = Served(
                name=name,
                installation=installation,
                number=number,
                hosting=self.hosting,
                pace=self._paces.setdefault(installation, pace),
            )
            try:
                if number:  # its deliveries are kept before its loop is open
                    one.settle(number)
            except OSError as error:  # tried again with the next look at the roster
                unserved[name] = f"{name} cannot be served: {error}"
                continue
            self.served[key] = one
            self.tasks[key] = group.create_task(self._serve(one), name=name)
        for name, why in unserved.items():
            if self.unserved.get(name) != why:
                self.tell(why)
        self.unserved = unserved

    async def _serve(self, one: Served) -> None:
        """Run the loop of one repository until cancelled, whatever goes wrong."""
        name = one.name
        again_s = AGAIN_S
        while True:
            begun = wall_clock()
            try:
                await self._run(one)
            except Exception as error:  # other repositories go on
                task = asyncio.current_task()
                if task is not None and task.cancelling():  # the fault replaced it
                    raise asyncio.CancelledError from error
                one.loop, one.trouble = None, cut(str(error) or repr(error), WHY_CHARS)
                self.tell(f"{name}: {one.trouble}; trying again in {again_s:.0f} s")
                if not isinstance(error, BratError) and one.trouble != one.fault:
                    one.fault = one.trouble
                    _log.exception("%s: a bug in brat", name)
            if wall_clock() - begun > AGAIN_MOST_S * 1000:
                again_s = AGAIN_S
            await asyncio.sleep(again_s)
            again_s = min(again_s * 2, AGAIN_MOST_S)

    async def _run(self, one: Served) -> None:
        name, number = one.name, one.number
        if not number:
            async with transport.async_client(DEADLINE_S) as client:
                github = GitHub(
                    client,
                    api_url=self.hosting.api_url,
                    repository=name,
                    token=self.hosting.token,
                    pace=one.pace,
                )
                number = await github.number()
        try:
            settings = await asyncio.to_thread(one.settle, number)
        except OSError as error:
            raise BratError(f"cannot create its folder: {error}") from error
        async with bot_service.opened(
            settings,
            lambda line: self.tell(f"{name}: {line}"),
            wake=one.wake,
            pace=one.pace,
        ) as loop:
            loop.context.elsewhere = partial(starts_beside, one, self.served)
            one.loop, one.trouble = loop, ""
            if one.place is not None:
                one.place = replace(one.place, login=loop.context.login)
            loop.wake.all()
            await asyncio.to_thread(self.metrics.begin, name, loop.context.mirror)
            try:
                looked_at = monotonic()

                def seen(cut: bool) -> None:  # noqa: FBT001  a callback
                    nonlocal looked_at
                    self.metrics.ticked(name, cut_short=cut)
                    self.metrics.follow(name, loop.context.mirror)
                    if monotonic() - looked_at >= SIZED_S:
                        looked_at = monotonic()
                        if has_grown(loop.context.mirror.path):
                            raise BratError(OUTGROWN)

                await bot_service.forever(loop, seen=seen)
            finally:
                # A lease that is freed lets the next bot begin at once.
                with suppress(BratError, TimeoutError):
                    async with asyncio.timeout(RELEASE_S):
                        await loop.release()

    def _standing(self) -> dict[str, RepositoryStanding]:
        return {
            one.name: RepositoryStanding(
                state=one.loop.context.mirror.state,
                calls_left=one.pace.left,
                faults=one.loop.context.mirror.faults,
            )
            for one in self.served.values()
            if one.loop is not None
        }


def _stands(name: str, why: str) -> str:
    return f"{name} is stuck: {why}"


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
    """Serve for as long as the block lasts; with `poll` there is no door."""
    if not poll and not hosting.secrets:
        raise BratError(
            '"secret" is missing, so anyone could send deliveries: set the same '
            "secret here and on the forge, or serve with --poll"
        )
    hosting.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    pygit2.settings.mwindow_file_limit = OPEN_PACKS
    host = Host(hosting, tell)
    threads = ThreadPoolExecutor(THREADS, "bot")
    asyncio.get_running_loop().set_default_executor(threads)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(transport.async_client(DEADLINE_S))
        key = app_key_of(hosting)
        roster = Installations(client, hosting.api_url, key) if key else None
        await _listen(stack, host, client, poll=poll)
        group = await stack.enter_async_context(asyncio.TaskGroup())
        keeping = group.create_task(host.keep(group, roster), name="roster")
        try:
            yield host
        finally:
            for task in [keeping, *host.tasks.values()]:
                task.cancel()


async def _listen(
    stack: AsyncExitStack, host: Host, client: httpx.AsyncClient, *, poll: bool
) -> None:
    hosting, metrics = host.hosting, host.metrics
    metrics.watch(
        "brat_repositories", "Repositories that are served.", lambda: len(host.served)
    )
    metrics.watch(
        "brat_repositories_broken",
        "Repositories whose loop cannot run.",
        lambda: sum(bool(one.trouble) for one in host.served.values()),
    )
    metrics.watch(
        "brat_installations_broken",
        "Installations whose repositories the bot cannot list.",
        lambda: len(host.broken),
    )
    if not poll:
        app = Door(
            secrets=hosting.secrets,
            place=host.place,
            roster_changed=host.roster_changed,
            unready=host.unready,
            troubles=host.troubles,
            origins=hosting.origins,
            answered=metrics.answered,
        ).application()
        issuer = None  # of the jobs' tokens
        if hosting.feed_url:
            url = hosting.feed_issuer or issuer_of(hosting.api_url)
            audience = hosting.feed_url.rstrip("/")
            issuer = Issuer(client, url, audience, hosting.folder / "feed.used")
        bot_service.with_feed(app, host.feed_of, issuer)
        listener = listener_at(hosting.address, hosting.port)
        door = serving_on(listener, app, origins=hosting.origins)
        host.port = await stack.enter_async_context(door)
    if hosting.metrics_port is not None:
        app = metrics.application()
        site = listening(app, hosting.address, hosting.metrics_port)
        host.metrics_port = await stack.enter_async_context(site)
