"""Keeps pushes apart, but lets nobody wait long for an answer."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from math import inf
from typing import Final

from bot.context.bot_context import BotContext
from bot.door.inbox import Wake
from bot.loop.bot_lease import BotLease
from bot.requests import new_requests

ASKED_GAP_S: Final = 2.0
"""The least time between two pushes while people wait for answers."""
MINUTE_S: Final = 60.0
HURRIED: Final = 4
"""After so many pushes within a minute the whole gap is kept: GitHub takes six pushes a
minute to one repository, and a gap of 20 s then leaves two.

https://docs.github.com/repositories/creating-and-managing-repositories/repository-limits
"""


@dataclass(kw_only=True)
class PushPacing:
    """When the next round may begin; for one event loop."""

    context: BotContext
    wake: Wake
    lease: BotLease
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Waits for the given number of seconds."""
    _kept: int = 0
    """How many requests the door had kept when the round began."""
    _pushed_at: deque[float] = field(default_factory=lambda: deque([-inf]))
    """When the last pushes arrived, by the lease's clock."""

    async def wait(self) -> None:
        """Wait until the bot may push again; call before anything is planned.

        A person's request makes the wait short, but nobody can make the bot push more
        often than once in `ASKED_GAP_S`.
        """
        self._kept = self.wake.kept
        if self.lease.held:
            gap_s = self.context.settings.push_gap_s
            if not self._may_hurry():
                await self.pause(max(gap_s - self.lease.age_s, 0.0))
            elif self.lease.age_s < gap_s and not self._asked():
                await self._pause(gap_s - self.lease.age_s)
            left_s = min(gap_s, ASKED_GAP_S) - self.lease.age_s
            if left_s > 0 and self._asked():
                await self.pause(left_s)
        self._kept = self.wake.kept

    @property
    def interrupted(self) -> bool:
        """Whether somebody has asked for something since the round began."""
        return self.wake.kept != self._kept

    def _may_hurry(self) -> bool:
        """Whether one more push may be sent without the whole gap."""
        now, pushed_at = self.lease.ticking(), self._pushed_at
        last = now - self.lease.age_s
        if last > pushed_at[-1]:
            pushed_at.append(last)
        while pushed_at[0] <= now - MINUTE_S and len(pushed_at) > 1:
            pushed_at.popleft()
        return len(pushed_at) < HURRIED

    async def _pause(self, seconds: float) -> None:
        """Wait, but not longer than until the next request comes."""

        async def pause() -> None:
            await self.pause(seconds)

        async def hear() -> None:
            await self.wake.more_kept(self._kept)

        async with asyncio.TaskGroup() as group:
            both = [group.create_task(pause()), group.create_task(hear())]
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            for each in both:
                each.cancel()

    def _asked(self) -> bool:
        """Whether a person waits for this loop's answer."""
        listens = "mayor" in self.context.settings.roles
        return listens and new_requests.waits(self.context)
