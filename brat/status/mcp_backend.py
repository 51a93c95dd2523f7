"""The MCP server's backend in a checkout or clone: it reads as the commands read."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from bot.dashboard.log_tail import LogTail
from bot.mcp.backend import Snapshot
from bot.settings.clock import wall_clock
from brat.repository import checkout as checkouts, registration as registrations
from brat.repository.log_location import log_repository
from brat.repository.log_reader import Reader
from brat.status import task_output
from brat.status.local_attention import here
from convoy.model.state import Convoy, Task
from convoy.views.timeline import Line
from grite.errors import BratError


class CheckoutBackend:
    """One repository on this machine; for one event loop."""

    def __init__(self, path: Path) -> None:
        """Read the repository in which the folder `path` lies; nothing is read yet."""
        self._path = path
        self._reader: Reader | None = None

    async def snapshot(self) -> Snapshot:
        """Return what the log and this machine say now."""
        return await asyncio.to_thread(self._look)

    async def log(self, number: int) -> Sequence[Line]:
        """Return the log's last lines."""
        return await asyncio.to_thread(self._lines, number)

    async def output(self, convoy: Convoy, task: Task) -> str:
        """Return the end of a session's output, if it ran on this machine."""
        if task.newest_run is None:
            return ""
        return await asyncio.to_thread(self._printed, convoy, task)

    def _look(self) -> Snapshot:
        if self._reader is None:
            self._reader = Reader(log_repository(self._path))
        state = self._reader.read()
        return Snapshot(
            state=state,
            now=wall_clock(),
            faults=self._reader.faults,
            here=here(self._path, state),
        )

    def _lines(self, number: int) -> Sequence[Line]:
        return LogTail(log_repository(self._path)).last(number)

    def _printed(self, convoy: Convoy, task: Task) -> str:
        checkout = checkouts.find(self._path)
        if not registrations.known(checkout.folder):
            raise BratError(
                "its sessions run elsewhere: the forge's page of the run shows what "
                "they print, and so does: brat session tail --bot"
            )
        printed = task_output.of(checkout.folder, convoy, task)
        return printed.last(running=task.attempt is not None)
