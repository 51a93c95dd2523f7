"""Time that passes only when somebody waits."""

import asyncio

from bot.forge.pace import Time

NOON = 1_700_000_000.0


class HandTime:
    """Clocks that are moved by hand, and by whoever sleeps."""

    def __init__(self) -> None:
        self.passed = 0.0
        """Seconds since the beginning."""
        self.ahead = 0.0
        """The wall clock goes wrong by so much."""
        self.slept: list[float] = []
        self.time = Time(
            wall=lambda: NOON + self.passed + self.ahead,
            steady=lambda: self.passed,
            sleep=self.sleep,
            chance=lambda: 0.0,
        )

    async def sleep(self, seconds: float) -> None:
        """Let time pass; two that sleep at once sleep side by side."""
        end = self.passed + seconds
        self.slept.append(seconds)
        await asyncio.sleep(0)
        self.passed = max(self.passed, end)
