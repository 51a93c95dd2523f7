"""The local forge for as long as it is needed, also when several terminals need it.

Whoever comes first starts it; who comes later uses it, and takes over on the same port
when the first one ends. The operating system's lock on the forge's folder says who.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from filelock import FileLock, Timeout
from msgspec.structs import replace

from brat import processes, registration as registrations
from brat.forge.records import Ci
from brat.registration import BOT_FOLDER, FORGE_FOLDER, Registration
from grite.errors import BratError, Unavailable

LOOK_S: Final = 0.3
_LOG: Final = "forge.log"


def in_use(folder: Path) -> bool:
    """Whether a living process has the forge in brat's folder."""
    lock = FileLock(folder / FORGE_FOLDER / "lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    lock.release()
    return False


@dataclass(frozen=True)
class Served:
    """A forge that answers."""

    url: str
    alive: Callable[[], bool]
    """Whether its process lives, as far as this process knows."""


@dataclass(frozen=True)
class Wish:
    """How a forge is to be served."""

    ci: Ci
    """How candidates are judged."""
    secrets: Mapping[str, str]
    """What its runs get, by name."""
    options: tuple[str, ...] = ()
    """What runs them; see `brat.executors`."""


@asynccontextmanager
async def served(
    folder: Path, known: Registration, wish: Wish
) -> AsyncIterator[Served]:
    """Give the forge in brat's folder.

    Args:
        folder: brat's.
        known: its registration.
        wish: how it is to be served; a forge of another process is as it is.

    Raises:
        Unavailable: it did not start.
        BratError: another process serves it, and not as is wished.
    """
    if in_use(folder) and known.port:
        if wish.options:
            raise BratError(
                "another terminal serves the local forge, with an executor of its own: "
                "stop it first"
            )
        async with _attached(folder, known, wish):
            yield Served(f"http://127.0.0.1:{known.port}", lambda: True)
        return
    with contextlib.ExitStack() as stack:
        yield _start(stack, folder, known, wish)


@asynccontextmanager
async def _attached(
    folder: Path, known: Registration, wish: Wish
) -> AsyncIterator[None]:
    """Watch the forge of another process, and serve it when that one ends."""
    with contextlib.ExitStack() as stack:
        async with asyncio.TaskGroup() as group:
            watch = group.create_task(
                _take_over(stack, folder, known, wish),
                name="take over the forge",
            )
            try:
                yield
            finally:
                watch.cancel()


async def _take_over(
    stack: contextlib.ExitStack,
    folder: Path,
    known: Registration,
    wish: Wish,
) -> None:
    while True:
        await asyncio.sleep(LOOK_S)
        if in_use(folder):
            continue
        # Another terminal may be quicker; then this one goes on watching.
        with contextlib.suppress(Unavailable):
            await asyncio.to_thread(_start, stack, folder, known, wish)
            return


def _start(
    stack: contextlib.ExitStack,
    folder: Path,
    known: Registration,
    wish: Wish,
) -> Served:
    registrations.set_ci(folder, known, wish.ci)
    forge = processes.forge_process(
        folder / FORGE_FOLDER,
        known.port,
        *("--feed", str(folder / BOT_FOLDER), *wish.options),
        log=folder / _LOG,
        secrets=wish.secrets,
    )
    url, process = stack.enter_context(forge)
    registrations.write(folder, replace(known, port=urlsplit(url).port or 0))
    return Served(url, lambda: process.running)
