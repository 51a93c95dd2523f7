"""The dashboard of a repository: beside a running loop, or of any clone's log."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from msgspec import structs

from bot.clock import wall_clock
from bot.configuration import configuration
from bot.dashboard.application import PORT, serving
from bot.dashboard.house import House, Output
from bot.dashboard.lines import LastLines
from brat import output
from brat.afar import Afar
from brat.console import Tell
from brat.local import Local
from brat.places import log_repository
from brat.reading import Reader
from brat.registration import bare_path
from brat.status.here import here
from convoy.commands import ApprovePlan, Command
from convoy.decide import Refusal
from convoy.following import Reading
from convoy.state import Convoy, Task
from convoy.told.interventions import Intervention
from grite.errors import BratError, Conflict

__all__ = ["PORT", "alone", "beside", "over"]

TOKEN_BYTES: Final = 16
TRIES: Final = 5
"""So often a button is put to the rules while the log moves."""


@asynccontextmanager
async def beside(local: Local, port: int) -> AsyncIterator[str]:
    """Serve it beside a loop, whose rules its buttons ask; give its address.

    The address holds the token. Where the port is taken, another one is used.
    """

    async def ask(command: Command) -> Refusal | None:
        if isinstance(command, ApprovePlan):
            command = structs.replace(
                command, staged=configuration(local.loop.desk).staged
            )
        for _ in range(TRIES):
            with suppress(Conflict):  # the loop wrote first: it is decided anew
                refused = await local.loop.ask(command)
                local.loop.wake.all()
                return refused
        raise Conflict("the log keeps moving")

    token = secrets.token_urlsafe(TOKEN_BYTES)
    folder = local.checkout.folder
    house = replace(
        _house(bare_path(folder, local.known), local.known.repository),
        ask=ask,
        token=token,
        output=_printed(folder),
        here=lambda: _but_the_bot(here(local.checkout.top)),
    )
    async with serving(house, port) as url:
        yield f"{url}/?token={token}"


@asynccontextmanager
async def over(
    log: Path, name: str, port: int, *, folder: Path | None = None
) -> AsyncIterator[str]:
    """Serve it over a log, to look only; give its address.

    Args:
        log: the repository that holds the log.
        name: what people call the repository.
        port: where.
        folder: brat's own, where its forge runs here: its sessions' output is shown.
    """
    house = _house(log, name)
    if folder is not None:
        house = replace(house, output=_printed(folder))
    async with serving(house, port) as url:
        yield url


def _but_the_bot(found: tuple[Intervention, ...]) -> tuple[Intervention, ...]:
    """Leave out that an earlier bot has ended: this one runs."""
    return tuple(each for each in found if each.kind != "bot_down")


def _printed(folder: Path) -> Output:
    def last(convoy: Convoy, task: Task) -> str:
        printed = output.of(folder, convoy, task)
        return printed.last(running=task.attempt is not None)

    return last


def _printed_at(far: Afar) -> Output:
    def last(convoy: Convoy, task: Task) -> str:
        try:
            return far.last(convoy, task)
        except BratError as error:
            return str(error)

    return last


async def alone(path: Path, port: int, tell: Tell, far: Afar | None = None) -> None:
    """Serve it over the log of the repository at `path`, to look only, until stopped.

    Args:
        path: a folder of the repository.
        port: where.
        tell: is told the address.
        far: the bot elsewhere that shows what sessions print.
    """
    house = _house(log_repository(path), path.name)
    house = replace(house, here=lambda: here(path))
    if far is not None:
        house = replace(house, output=_printed_at(far))
    async with serving(house, port) as url:
        tell(f"dashboard: {url} (it only shows; stop with Ctrl-C)")
        await asyncio.Event().wait()


def _house(path: Path, repository: str) -> House:
    reader = Reader(path)

    def read() -> Reading:
        reader.read()
        return reader.reading

    lines = LastLines(path)
    return House(repository=repository, read=read, log=lines.last, clock=wall_clock)
