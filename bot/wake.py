"""What wakes the loop, and which parts of the world it has to look at again."""

import asyncio
from typing import Final, Literal, get_args

Part = Literal["issues", "comments", "runs", "checks", "refs"]
ALL: Final[frozenset[str]] = frozenset(get_args(Part))


class Wake:
    """A bell with a memory; for one event loop."""

    def __init__(self) -> None:
        self._parts: set[str] = set(ALL)
        self._bell = asyncio.Event()

    def up(self, part: str) -> None:
        """Say that `part` may have changed."""
        self._parts.add(part)
        self._bell.set()

    def all(self) -> None:
        """Say that anything may have changed."""
        self.suspect()
        self._bell.set()

    def suspect(self) -> None:
        """Let the next look be at everything, without waking anybody."""
        self._parts |= ALL

    def take(self) -> frozenset[str]:
        """Return what may have changed since the last take, and forget it."""
        parts = frozenset(self._parts)
        self._parts.clear()
        self._bell.clear()
        return parts

    async def wait(self, timeout_s: float) -> None:
        """Return at the next call of `up`; after `timeout_s` everything is suspect."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._bell.wait()
        except TimeoutError:
            self.suspect()
