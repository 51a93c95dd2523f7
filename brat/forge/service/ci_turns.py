"""The order in which CI jobs begin, and how many of them run at once."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """Lets jobs begin first come, first served; for one event loop."""

    def __init__(self) -> None:
        """Let nothing begin before `most` is set."""
        self._most = 0
        self._running = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def most(self) -> int:
        """How many jobs run at once; those that run already go on if it shrinks."""
        return self._most

    @most.setter
    def most(self, number: int) -> None:
        self._most = number
        self._give()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn, and give it back at the end."""
        mine = asyncio.get_running_loop().create_future()
        self._waiting.append(mine)
        self._give()
        try:
            await mine
            yield
        finally:
            if mine.done() and not mine.cancelled():
                self._running -= 1
            elif mine in self._waiting:
                self._waiting.remove(mine)
            self._give()

    def _give(self) -> None:
        while self._waiting and self._running < self._most:
            first = self._waiting.popleft()
            if not first.done():
                self._running += 1
                first.set_result(None)
