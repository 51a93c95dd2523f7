"""Starts what strangers reach as a process of its own, and starts it again if it ends.

The listening socket is ours: while no front lives, connections wait in it.
"""

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec
from aiohttp import web

from bot import VERSION, wall_clock
from bot.door.front_link import Destinations, FromFront, Logged, Opened, Setup
from bot.door.listening import listener_at, listening_behind
from bot.serving.bot_service import Tell
from bot.settings.hosts import Origins
from grite.errors import BratError

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
    """What a front is for."""

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
        """Prepare to start it."""
        self._front = front
        self._setup = setup
        self._process: asyncio.subprocess.Process | None = None
        self._destinations = Destinations(())
        self.opened = asyncio.Event()
        """Set while it serves."""

    @property
    def number(self) -> int:
        """The process' id; 0: there is none now."""
        return self._process.pid if self._process is not None else 0

    def tell_destinations(self, told: Destinations) -> None:
        """Tell the front where deliveries go, if that has changed."""
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
        """Run one front until it ends."""
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
    """Serve an application behind a front; give the front and its port.

    Raises:
        BratError: the address or port cannot be used, or the front does not start.
    """
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
                await _until_opened(process)
                yield process, int(listener.getsockname()[1])
            finally:
                keeping.cancel()


async def _until_opened(process: FrontProcess) -> None:
    try:
        async with asyncio.timeout(START_S):
            await process.opened.wait()
    except TimeoutError:
        raise BratError(
            f"a process of the bot does not serve within {START_S:g} s"
        ) from None
