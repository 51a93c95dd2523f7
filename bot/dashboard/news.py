"""The newest state, read in the background, and who waits for it to change."""

import asyncio
from collections.abc import Callable
from typing import Final

from convoy.following import NOTHING, Reading
from grite.errors import BratError

LOOK_S: Final = 0.1
"""How often the log's head is looked at: one reader for all who watch."""


class News:
    """What was read last; for one event loop."""

    def __init__(self, read: Callable[[], Reading]) -> None:
        """Take how the log is read; it may block, and is called in a thread."""
        self._read = read
        self.reading = NOTHING
        self.trouble = ""
        """Why the log could not be read the last time; empty: it could."""
        self._changed = asyncio.Condition()

    @property
    def mark(self) -> str:
        """What was read, by name: a page that has another one is not the newest."""
        return f"{self.reading.head or ''}{'!' if self.trouble else ''}"

    async def look(self) -> None:
        """Read once; wakes who waits when something is new. Safe to call twice."""
        try:
            reading, trouble = await asyncio.to_thread(self._read), ""
        except BratError as error:
            reading, trouble = self.reading, str(error)
        if reading.head == self.reading.head and trouble == self.trouble:
            return
        async with self._changed:
            self.reading, self.trouble = reading, trouble
            self._changed.notify_all()

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
