"""The newest state, read in the background, and who waits for it to change."""

import asyncio
import time
from collections.abc import Callable
from hashlib import blake2b
from typing import Final

from convoy.following import NOTHING, Reading
from convoy.told.interventions import Intervention
from grite.errors import BratError

LOOK_S: Final = 0.1
"""How often the log's head is looked at: one reader for all who watch."""
HERE_S: Final = 2.0
"""How often what is beside the log is looked at."""

Here = Callable[[], tuple[Intervention, ...]]
"""Gives what waits for a person that the log does not say; may block."""


def nothing_here() -> tuple[Intervention, ...]:
    """Look at nothing but the log."""
    return ()


class News:
    """What was read last; for one event loop."""

    def __init__(self, read: Callable[[], Reading], here: Here = nothing_here) -> None:
        """Take how the log is read, and what is looked at beside it, in a thread."""
        self._read = read
        self._look_here = here
        self._looked = -HERE_S
        self.here: tuple[Intervention, ...] = ()
        self.reading = NOTHING
        self.trouble = ""
        """Why the log could not be read the last time; empty: it could."""
        self._changed = asyncio.Condition()

    @property
    def mark(self) -> str:
        """What was read, by name: a page that has another one is not the newest."""
        here = blake2b(repr(self.here).encode(), digest_size=4) if self.here else None
        beside = f"+{here.hexdigest()}" if here else ""
        return f"{self.reading.head or ''}{'!' if self.trouble else ''}{beside}"

    async def look(self) -> None:
        """Read once; wakes who waits when something is new. Safe to call twice."""
        try:
            reading, trouble = await asyncio.to_thread(self._read), ""
        except BratError as error:
            reading, trouble = self.reading, str(error)
        here = await self._beside()
        known = (self.reading.head, self.trouble, self.here)
        if (reading.head, trouble, here) == known:
            return
        async with self._changed:
            self.reading, self.trouble, self.here = reading, trouble, here
            self._changed.notify_all()

    async def _beside(self) -> tuple[Intervention, ...]:
        """Return what waits beside the log, as it was seen lately."""
        now = time.monotonic()
        if now - self._looked < HERE_S:
            return self.here
        self._looked = now
        return await asyncio.to_thread(self._look_here)

    async def keep_looking(self) -> None:
        """Look until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(LOOK_S)

    async def after(self, mark: str) -> str:
        """Wait until there is something else than `mark`; return its mark."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.mark != mark)
            return self.mark
