"""One service for many repositories: a door, and for each its own loop and mirror.

None holds up another: each has a task, a client and a place in the thread pool of its
own, and one that breaks is begun again, later each time. Repositories of one
installation share its budget on the forge, and so its pace.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

import httpx

from bot.clock import wall_clock
from bot.door.inbox import Inbox
from bot.door.metrics import Metrics
from bot.door.redelivery import ask_again
from bot.door.webhooks import Door, Place
from bot.feed.feed import Feed
from bot.feed.identity import Issuer, issuer_of
from bot.forge.pace import Pace, pacing
from bot.forge.rest import DEADLINE_S
from bot.loop import Loop
from bot.roles.quota import HOUR_MS
from bot.serving import service
from bot.serving.figures import Figures, Standing
from bot.serving.hosting import Hosting
from bot.serving.roster import Roster, key_of
from bot.serving.service import Tell
from bot.settings import Settings
from bot.version import VERSION
from bot.wake import Wake
from grite.errors import BratError

THREADS: Final = 256
"""Git of so many repositories may hang without holding up the others."""
AGAIN_S: Final = 1.0
AGAIN_MOST_S: Final = 300.0
RELEASE_S: Final = 5.0

_log: Final = logging.getLogger(__name__)


@dataclass(kw_only=True)
class Served:
    """One repository of the service."""

    settings: Settings
    place: Place
    pace: Pace
    loop: Loop | None = None
    """None: it could not be opened yet."""
    trouble: str = ""
    """Why not."""


class Host:
    """The repositories that are served now."""

    def __init__(self, hosting: Hosting, tell: Tell) -> None:
        self.hosting = hosting
        self.tell = tell
        self.metrics = Metrics()
        self.figures = Figures(self.metrics.registry, self._standing, wall_clock)
        self.served: dict[str, Served] = {}
        """By full name in small letters."""
        self.port = 0
        """Of the door; 0: there is none."""
        self.metrics_port = 0
        self.known = asyncio.Event()
        """Set when the roster was read for the first time."""
        self._changed = asyncio.Event()
        self._paces: dict[int | None, Pace] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._trouble = ""

    # --- what the door asks ---------------------------------------------------------

    def place_of(self, name: str) -> Place | None:
        """Return where deliveries about a repository go."""
        one = self.served.get(name)
        return one.place if one else None

    def feed_of(self, name: str) -> Feed | None:
        """Return the feed of a repository."""
        one = self.served.get(name)
        return one.loop.desk.feed if one and one.loop else None

    def unready(self) -> str | None:
        """Return why the service cannot work at all; None: it can."""
        if self._trouble:
            return self._trouble
        return None if self.known.is_set() else "the repositories are being looked up"

    def roster_changed(self) -> None:
        """Look soon where the App is installed."""
        self._changed.set()

    # --- which repositories ---------------------------------------------------------

    async def keep(self, group: asyncio.TaskGroup, roster: Roster | None) -> None:
        """Serve what is to be served, until cancelled."""
        hosting = self.hosting
        while True:
            self._changed.clear()
            try:
                wanted: dict[str, int | None] = dict.fromkeys(hosting.repositories)
                if roster is not None:
                    found = await roster.repositories(hosting.allows, hosting.serves)
                    wanted = dict(found)
                    await self._ask_again(roster)
                self._trouble = ""
                self._settle(group, wanted)
                self.known.set()
            except BratError as error:
                self._say_trouble(str(error))
            with suppress(TimeoutError):
                async with asyncio.timeout(hosting.roster_s):
                    await self._changed.wait()

    async def _ask_again(self, roster: Roster) -> None:
        if not self.port:
            return  # who only polls is sent nothing
        now = datetime.fromtimestamp(roster.clock.now(), UTC)
        asked = await ask_again(roster.app, now)
        self.metrics.redelivered.inc(asked)
        if asked:
            self.tell(f"asked the forge to send {asked} deliveries again")

    def _say_trouble(self, why: str) -> None:
        if self._trouble != why:
            self._trouble = why
            self.tell(why)

    def _settle(self, group: asyncio.TaskGroup, wanted: dict[str, int | None]) -> None:
        """Begin to serve what is new, and end what is served no more."""
        names = {name.casefold(): name for name in wanted}
        for gone in self.served.keys() - names.keys():
            self.tell(f"{gone}: served no more")
            self._tasks.pop(gone).cancel()
            del self.served[gone]
        for key, name in names.items():
            if key not in self.served:
                one = self._new(name, wanted[name])
                self.served[key] = one
                self._tasks[key] = group.create_task(self._serve(one), name=name)

    def _new(self, name: str, installation: int | None) -> Served:
        settings = self.hosting.of(name, installation)
        how = pacing(settings.gap_s)
        pace = self._paces.setdefault(installation, Pace(how))
        inbox = Inbox(settings.folder / "inbox")
        # An App's name is sure; an account's is asked for when the loop is opened.
        login = f"{settings.app}[bot]"
        place = Place(label=settings.label, login=login, inbox=inbox, wake=Wake())
        return Served(settings=settings, place=place, pace=pace)

    def tasks(self) -> list[asyncio.Task[None]]:
        """Return the tasks of all repositories."""
        return [*self._tasks.values()]

    # --- one repository -------------------------------------------------------------

    async def _serve(self, one: Served) -> None:
        """Run the loop of one repository until cancelled, whatever goes wrong."""
        name = one.settings.repository
        again_s = AGAIN_S
        while True:
            begun = wall_clock()
            try:
                await self._run(one)
            except Exception as error:  # noqa: BLE001  it must not end the others
                one.loop, one.trouble = None, str(error) or repr(error)
                self.tell(f"{name}: {one.trouble}; tried again in {again_s:.0f} s")
                if not isinstance(error, BratError):
                    _log.exception("%s: a fault of ours", name)
            if wall_clock() - begun > AGAIN_MOST_S * 1000:
                again_s = AGAIN_S
            await asyncio.sleep(again_s)
            again_s = min(again_s * 2, AGAIN_MOST_S)

    async def _run(self, one: Served) -> None:
        name = one.settings.repository
        tell = _telling(self.tell, name)
        async with service.opened(
            one.settings, tell, wake=one.place.wake, pace=one.pace
        ) as loop:
            loop.desk.elsewhere = lambda: self._starts_beside(one)
            one.loop, one.trouble = loop, ""
            one.place = replace(one.place, login=loop.desk.login)
            loop.wake.all()
            await asyncio.to_thread(self.figures.begin, name, loop.desk.mirror)
            try:
                await service.forever(loop, seen=lambda cut: self._count(name, cut))
            finally:
                # A lease that is freed lets the next bot begin at once.
                with suppress(BratError, TimeoutError):
                    async with asyncio.timeout(RELEASE_S):
                        await loop.release()

    def _count(self, name: str, cut_short: bool) -> None:  # noqa: FBT001  a callback
        outcome = "cut short" if cut_short else "whole"
        self.metrics.ticks.labels(name, outcome).inc()
        one = self.served.get(name.casefold())
        if one is not None and one.loop is not None:
            self.figures.follow(name, one.loop.desk.mirror)

    def _standing(self) -> dict[str, Standing]:
        """Return how each repository that can be served stands."""
        return {
            name: Standing(
                state=one.loop.desk.mirror.state,
                calls_left=one.pace.left,
                log_commits=self.figures.log_commits.get(name, 0),
                faults=one.loop.desk.mirror.faults,
            )
            for one in self.served.values()
            if one.loop is not None and (name := one.settings.repository)
        }

    def _starts_beside(self, one: Served) -> Iterator[int]:
        """Give when convoys of the installation's other repositories were started."""
        after = wall_clock() - HOUR_MS
        for other in self.served.values():
            if other is not one and other.pace is one.pace and other.loop is not None:
                for convoy in other.loop.desk.mirror.state.convoys.values():
                    if convoy.requested_at > after:
                        yield convoy.requested_at


def _telling(tell: Tell, name: str) -> Callable[[str], None]:
    return lambda line: tell(f"{name}: {line}")


@asynccontextmanager
async def hosted(
    hosting: Hosting, tell: Tell, *, poll: bool = False
) -> AsyncIterator[Host]:
    """Serve for as long as the block lasts.

    Args:
        hosting: what to serve, and how.
        tell: is told what goes wrong or waits, a line each.
        poll: no door: what is to be done is found by looking.

    Raises:
        BratError: there is no secret, the key cannot be read, or a port is taken.
    """
    if not poll and not hosting.secrets:
        raise BratError(
            "secret: the webhook has none, so anybody could send deliveries: set one "
            "here and on the forge, or serve with --poll"
        )
    hosting.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    host = Host(hosting, tell)
    threads = ThreadPoolExecutor(THREADS, "bot")
    asyncio.get_running_loop().set_default_executor(threads)
    async with AsyncExitStack() as stack:
        roster = await _roster(stack, hosting)
        await _listen(stack, host, poll=poll)
        group = await stack.enter_async_context(asyncio.TaskGroup())
        keeper = group.create_task(host.keep(group, roster), name="roster")
        timing = group.create_task(host.figures.keep_timing(), name="timing")
        try:
            yield host
        finally:
            keeper.cancel()
            timing.cancel()
            for task in host.tasks():
                task.cancel()


async def _roster(stack: AsyncExitStack, hosting: Hosting) -> Roster | None:
    if hosting.app_id is None or hosting.private_key_file is None:
        return None
    key = key_of(hosting.app_id, hosting.private_key_file)
    client = httpx.AsyncClient(timeout=DEADLINE_S, trust_env=False)
    await stack.enter_async_context(client)
    return Roster(client, hosting.api_url, key)


async def _issuer(stack: AsyncExitStack, hosting: Hosting) -> Issuer | None:
    """Return who vouches for jobs; None: nobody is asked."""
    if not hosting.feed_url:
        return None
    client = httpx.AsyncClient(timeout=DEADLINE_S, trust_env=False)
    await stack.enter_async_context(client)
    url = hosting.feed_issuer or issuer_of(hosting.api_url)
    audience = hosting.feed_url.rstrip("/")
    return Issuer(client, url, audience, hosting.folder / "feed.used")


async def _listen(stack: AsyncExitStack, host: Host, *, poll: bool) -> None:
    """Open the doors: for deliveries, and for who looks at the figures."""
    hosting, metrics = host.hosting, host.metrics
    metrics.watch(
        "brat_repositories", "Repositories that are served.", lambda: len(host.served)
    )
    metrics.watch(
        "brat_repositories_broken",
        "Those whose loop cannot run.",
        lambda: sum(bool(one.trouble) for one in host.served.values()),
    )
    if not poll:
        door = Door(
            secrets=hosting.secrets,
            place_of=host.place_of,
            roster_changed=host.roster_changed,
            unready=host.unready,
            version=VERSION,
            origins=hosting.origins,
            metrics=metrics,
        )
        app = door.application()
        service.with_feed(app, host.feed_of, await _issuer(stack, hosting))
        site = service.listening(app, hosting.address, hosting.port)
        host.port = await stack.enter_async_context(site)
    if hosting.metrics_port is not None:
        site = service.listening(
            metrics.application(), hosting.address, hosting.metrics_port
        )
        host.metrics_port = await stack.enter_async_context(site)
