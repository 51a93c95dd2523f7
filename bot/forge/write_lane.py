"""A lane for one write at a time, in which answers to people go first."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from heapq import heappop, heappush
from itertools import count

from bot.forge.precedence import Precedence


class WriteLane:
    """A lock whose waiters are served by precedence, then in order; for one loop."""

    def __init__(self) -> None:
        self._taken = False
        self._line: list[tuple[Precedence, int, asyncio.Future[None]]] = []
        self._numbers = count()

    @asynccontextmanager
    async def turn(self, precedence: Precedence) -> AsyncIterator[None]:
        """Wait for the lane, and keep it while the block lasts."""
        if self._taken:
            await self._called(precedence)
        self._taken = True
        try:
            yield
        finally:
            self._call_next()

    async def _called(self, precedence: Precedence) -> None:
        called = asyncio.get_running_loop().create_future()
        heappush(self._line, (precedence, next(self._numbers), called))
        try:
            await called
        except asyncio.CancelledError:
            if not called.cancelled():  # it was called and left at the same moment
                self._call_next()
            raise

    def _call_next(self) -> None:
        """Hand the lane to the first in line who still waits, else free it."""
        while self._line:
            _, _, called = heappop(self._line)
            if not called.done():
                called.set_result(None)
                return
        self._taken = False
