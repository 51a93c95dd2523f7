"""The local forge for as long as it is needed, also when several terminals need it.

The first terminal starts the forge. Later ones use it, and one of them takes over on
the same port when the first ends. An operating-system lock on the folder decides.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx
import msgspec
from msgspec.structs import replace

from bot.forge import transport
from brat.forge.resources.repository_resource import Ci
from brat.local import child_processes
from brat.repository import registration as registrations
from brat.repository.forge_lock import in_use
from brat.repository.registration import BOT_FOLDER, FORGE_FOLDER, Registration
from grite.errors import Unavailable

LOOK_S: Final = 0.3
TELL_S: Final = 10.0
_LOG: Final = "forge.log"


@dataclass(frozen=True)
class Served:
    """A forge that answers."""

    url: str
    alive: Callable[[], bool]
    """Whether the forge's process lives, as far as this process knows."""


@dataclass
class ServeOptions:
    """How a forge is to be served."""

    ci: Ci
    """How candidates are judged."""
    secrets: Mapping[str, str]
    """The variables that the forge's runs get, by name."""


def judge_by(url: str, known: Registration, options: ServeOptions, ci: Ci) -> None:
    """Let a forge judge candidates in another way from now on, whoever serves it.

    Args:
        url: the forge.
        known: the repository's registration.
        options: changed too, for when this process comes to serve the forge.
        ci: the way.

    Raises:
        Unavailable: the forge did not take it.
    """
    with transport.client_of(url, TELL_S) as client:
        try:
            client.put(
                f"{url}/_ci/{known.repository}",
                headers={"Authorization": f"Bearer {known.person_token}"},
                content=msgspec.json.encode(ci),
            ).raise_for_status()
        except httpx.HTTPError as error:
            raise Unavailable(f"the local forge keeps its [ci]: {error}") from error
    options.ci = ci


@asynccontextmanager
async def served(
    folder: Path, known: Registration, options: ServeOptions
) -> AsyncIterator[Served]:
    """Yield the forge in brat's folder; start it if no process serves it.

    Args:
        folder: brat's folder.
        known: the repository's registration.
        options: how to serve it; ignored while another process serves it.

    Raises:
        Unavailable: it did not start.
    """
    if in_use(folder) and known.port:
        async with _attached(folder, known, options):
            yield Served(f"http://127.0.0.1:{known.port}", lambda: True)
        return
    with contextlib.ExitStack() as stack:
        yield _start(stack, folder, known, options)


@asynccontextmanager
async def _attached(
    folder: Path, known: Registration, options: ServeOptions
) -> AsyncIterator[None]:
    """Watch another process's forge, and serve the forge when that process ends."""
    with contextlib.ExitStack() as stack:
        async with asyncio.TaskGroup() as group:
            watch = group.create_task(
                _take_over(stack, folder, known, options),
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
    options: ServeOptions,
) -> None:
    while True:
        await asyncio.sleep(LOOK_S)
        if in_use(folder):
            continue
        # Another terminal may be quicker; then this terminal goes on watching.
        with contextlib.suppress(Unavailable):
            await asyncio.to_thread(_start, stack, folder, known, options)
            return


def _start(
    stack: contextlib.ExitStack,
    folder: Path,
    known: Registration,
    options: ServeOptions,
) -> Served:
    registrations.set_ci(folder, known, options.ci)
    forge = child_processes.forge_process(
        folder / FORGE_FOLDER,
        known.port,
        *("--feed", str(folder / BOT_FOLDER)),
        log=folder / _LOG,
        secrets=options.secrets,
    )
    url, process = stack.enter_context(forge)
    registrations.write(folder, replace(known, port=urlsplit(url).port or 0))
    return Served(url, lambda: process.running)
