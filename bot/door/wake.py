"""Wakes the loop, and tells it which parts of the world to look at again."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Final, Literal, Protocol, get_args

Part = Literal[
    "issues", "pulls", "comments", "runs", "checks", "refs", "shown", "rights"
]
RIGHTS: Final = "rights"
"""What the bot may do: only a hint tells of it, so it is never suspect by itself."""
ALL: Final[frozenset[str]] = frozenset(get_args(Part)) - {RIGHTS}


class Bell(Protocol):
    """What the door does to a loop, in this process or another."""

    def up(self, part: str) -> None:
        """Say that `part` may have changed."""

    def keep(self) -> None:
        """Say that the inbox holds one more request."""


class Wake:
    """A bell with a memory; for one event loop."""

    def __init__(self, ticking: Callable[[], float] = monotonic) -> None:
        self._parts: set[str] = set(ALL)
        self._bell = asyncio.Event()
        self.kept = 0
        """How many requests the door has kept."""
        self._more_kept = asyncio.Event()
        self._ticking = ticking
        self._looked_at = ticking()
        """When the loop last looked at everything."""

    def up(self, part: str) -> None:
        """Say that `part` may have changed."""
        self._parts.add(part)
        self._bell.set()

    def keep(self) -> None:
        """Say that the inbox holds one more request."""
        self.kept += 1
        self._more_kept.set()
        self._more_kept = asyncio.Event()

    async def more_kept(self, known: int) -> int:
        """Return how many requests were kept, once they are not `known` any more."""
        while self.kept == known:
            await self._more_kept.wait()
        return self.kept

    def all(self) -> None:
        """Say that anything may have changed."""
        self.suspect()
        self._bell.set()

    def suspect(self) -> None:
        """Make the next look cover everything, without waking the loop."""
        self._parts |= ALL

    def take(self) -> frozenset[str]:
        """Return the parts that may have changed since the last take; forget them."""
        parts = frozenset(self._parts)
        if parts >= ALL:
            self._looked_at = self._ticking()
        self._parts.clear()
        self._bell.clear()
        return parts

    async def wait(self, timeout_s: float) -> None:
        """Return at the next call of `up`, or after `timeout_s`.

        If the last look at everything is `timeout_s` ago, everything is suspect then.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._bell.wait()
        if not self._bell.is_set() or self._ticking() - self._looked_at >= timeout_s:
            self.suspect()
