"""Reads the newest state in the background, and wakes waiters when it changes."""

import asyncio
import time
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Final

from convoy.log.record import NOTHING_READ, Reading
from convoy.rules.verdict import Checks
from convoy.views.interventions import Intervention
from grite.errors import BratError

LOOK_S: Final = 0.1
"""How often the log's head is read: one reader serves all watchers."""
HERE_S: Final = 2.0
"""How often interventions outside of the log are looked for."""

Here = Callable[[], tuple[Intervention, ...]]
"""Returns the interventions that the log does not hold; may block."""


def nothing_here() -> tuple[Intervention, ...]:
    """Return no interventions outside of the log."""
    return ()


class StateWatcher:
    """Keeps the last reading of the log; for one event loop."""

    def __init__(
        self,
        read: Callable[[], Reading],
        here: Here = nothing_here,
        checks: Callable[[], Mapping[str, Checks]] = dict,
    ) -> None:
        """Read the log with `read`, other interventions with `here`, in a thread.

        Args:
            read: returns what the log says now.
            here: returns the interventions outside of the log.
            checks: returns what CI was seen to say last, by commit.
        """
        self._read = read
        self._checks = checks
        self._verdicts: frozenset[tuple[object, ...]] = frozenset()
        self._look_here = here
        self._looked = -HERE_S
        self.here: tuple[Intervention, ...] = ()
        self.reading = NOTHING_READ
        self.trouble = ""
        """Why the last read of the log failed; empty: it succeeded."""
        self._changed = asyncio.Condition()

    @property
    def mark(self) -> str:
        """The name of the last reading: a page with another mark is outdated."""
        others = (self.here, sorted(map(repr, self._verdicts)))
        digest = blake2b(repr(others).encode(), digest_size=4)
        beside = f"+{digest.hexdigest()}" if self.here or self._verdicts else ""
        return f"{self.reading.head or ''}{'!' if self.trouble else ''}{beside}"

    async def look(self) -> None:
        """Read once, and wake waiters if something is new. Safe to call twice."""
        try:
            reading, trouble = await asyncio.to_thread(self._read), ""
        except BratError as error:
            reading, trouble = self.reading, str(error)
        here = await self._beside()
        verdicts = frozenset(
            (commit, one.verdict, one.names, one.failed)
            for commit, one in self._checks().items()
        )
        known = (self.reading.head, self.trouble, self.here, self._verdicts)
        if (reading.head, trouble, here, verdicts) == known:
            return
        async with self._changed:
            self.reading, self.trouble, self.here = reading, trouble, here
            self._verdicts = verdicts
            self._changed.notify_all()

    async def _beside(self) -> tuple[Intervention, ...]:
        """Return the interventions outside of the log, at most HERE_S old."""
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
        """Wait until the mark differs from `mark`; return the new mark."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.mark != mark)
            return self.mark
