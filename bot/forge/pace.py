"""When a client may ask: one lane for writes, a few reads at once, and no haste.

Everything a client sends passes here. What the forge refused as too much is asked again
after the wait that it wants, if that is short; else the caller hears `Limited`, and
until then nothing at all is sent.
"""

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from bot.forge.budget import GITHUB_CONTENT, Budget, Spent
from bot.forge.clock import REAL, ForgeClock, Time
from bot.forge.limits import wait_s
from bot.forge.wire import Ask, Reply
from grite.errors import Unavailable

READ_WAIT_S: Final = 120.0
WRITE_WAIT_S: Final = 30.0
"""Shorter: a write is sent on the strength of a lease, which must not end meanwhile."""
TRIES: Final = 5


class Limited(Unavailable):
    """The forge, or our own share of it, allows nothing before `retry_at`.

    Nothing was changed: the forge was not asked, or refused.
    """

    retry_at: int
    """Unix ms."""

    def __init__(self, what: str, why: str, retry_at: int) -> None:
        moment = datetime.fromtimestamp(math.ceil(retry_at / 1000), UTC)
        super().__init__(f"{what}: {why}; it goes on at {moment:%H:%M:%S} UTC")
        self.retry_at = retry_at


@dataclass(frozen=True, kw_only=True)
class Pacing:
    """How a forge wants to be asked."""

    write_gap_s: float = 0.0
    """From the start of one write to the start of the next, at least."""
    content: tuple[Budget, ...] = ()
    reads_at_once: int = 8
    read_wait_s: float = READ_WAIT_S
    """A read waits for so long in all; then its caller does something else."""
    write_wait_s: float = WRITE_WAIT_S
    tries: int = TRIES
    """How often one call may be refused as too much."""


def pacing(write_gap_s: float) -> Pacing:
    """Return how to ask a forge that wants this gap; with 0 it has no limits."""
    content = GITHUB_CONTENT if write_gap_s else ()
    return Pacing(write_gap_s=write_gap_s, content=content)


@dataclass(kw_only=True)
class Visit:
    """One call on its way: it may be refused, and asked again."""

    ask: Ask
    deadline: float
    """Steady seconds; it does not wait beyond."""
    tries: int = 0
    number: int = 0
    """Of the last try, among all that the client sent."""

    @property
    def makes(self) -> bool:
        """Whether it adds something, and does not only change or end what is there."""
        return self.ask.method == "POST"

    @property
    def writes_content(self) -> bool:
        """Whether it counts against a budget of content."""
        return not self.ask.reads and self.ask.body is not None


@dataclass
class _Side:
    """What the forge last said about calls that read, or about those that write."""

    quiet_until: float = -math.inf
    """Steady seconds."""
    streak: int = 0
    """Limits met, one after another."""
    judged: int = 0
    """What was sent up to here was under way when the last limit was met."""

    def met(self, number: int, sent: int) -> None:
        """Hear that the call `number` met a limit when `sent` had been sent."""
        if number > self.judged:
            self.streak += 1
            self.judged = sent

    def before(self, number: int) -> int:
        """Return how many limits were met before the one that this call meets."""
        return self.streak if number > self.judged else max(self.streak - 1, 0)

    def worked(self, number: int) -> None:
        """Hear that the call `number` met none."""
        if number > self.judged:
            self.streak = 0


class Pace:
    """The turns of everything that one client asks; for one event loop.

    One installation has one budget on the forge: its repositories share a `Pace`.
    """

    def __init__(
        self,
        how: Pacing = Pacing(),
        time: Time = REAL,
        clock: ForgeClock | None = None,
    ) -> None:
        self.time = time
        self.clock = clock or ForgeClock(time)
        self._how = how
        self._lane = asyncio.Lock()
        self._reads = asyncio.Semaphore(how.reads_at_once)
        self._spent = [Spent(budget) for budget in how.content]
        self._written_at = -math.inf
        self._reading, self._writing = _Side(), _Side()
        self._sent = 0
        self.left: int | None = None
        """Calls that the rate limit leaves, as the forge said last; None: nothing."""

    def visit(self, ask: Ask) -> Visit:
        """Begin a call."""
        wait = self._how.read_wait_s if ask.reads else self._how.write_wait_s
        return Visit(ask=ask, deadline=self.time.steady() + wait)

    @asynccontextmanager
    async def turn(self, visit: Visit) -> AsyncIterator[None]:
        """Wait for the call's turn, and keep it while the block lasts.

        Raises:
            Limited: it would have to wait for too long.
        """
        async with self._reads if visit.ask.reads else self._lane:
            await self._wait(visit)
            self._note(visit)
            yield

    def again(self, visit: Visit, reply: Reply) -> bool:
        """Hear the answer; say whether the forge only wants to be asked later.

        Raises:
            Limited: it does, and this call was refused too often already.
        """
        if not reply.own:
            return False
        self.clock.learn(reply.headers.get("date"))
        left = reply.headers.get("x-ratelimit-remaining", "")
        self.left = int(left) if left.isdecimal() else self.left
        side = self._reading if visit.ask.reads else self._writing
        streak, chance = side.before(visit.number), self.time.chance()
        wait = wait_s(reply, self.clock, streak=streak, chance=chance)
        if wait is None:
            side.worked(visit.number)
            return False
        side.met(visit.number, self._sent)
        self._hold(visit.ask, reply, self.time.steady() + wait)
        if visit.tries >= self._how.tries:
            raise self._limited(visit, *self._free_at(visit))
        return True

    def _note(self, visit: Visit) -> None:
        """Count what is sent now."""
        now = self.time.steady()
        self._sent += 1
        visit.number = self._sent
        visit.tries += 1
        if not visit.ask.reads:
            self._written_at = now
        if visit.writes_content:
            for spent in self._spent:
                spent.moments.append(now)

    def _hold(self, ask: Ask, reply: Reply, until: float) -> None:
        """Send nothing of the kind that was refused; all, when nothing is left."""
        spent = reply.headers.get("x-ratelimit-remaining") == "0"
        both = (self._reading, self._writing)
        for side in both if spent or ask.reads else (self._writing,):
            side.quiet_until = max(side.quiet_until, until)

    async def _wait(self, visit: Visit) -> None:
        while True:
            at, why = self._free_at(visit)
            now = self.time.steady()
            if now > visit.deadline:
                raise self._limited(visit, now, "other calls went first")
            if at <= now:
                return
            if at > visit.deadline:
                raise self._limited(visit, at, why)
            await self.time.sleep(at - now)

    def _free_at(self, visit: Visit) -> tuple[float, str]:
        """Return from when on it may be sent, and what it waits for."""
        now = self.time.steady()
        if visit.ask.reads:
            return self._reading.quiet_until, "the forge wants to be asked later"
        reasons = [
            (self._writing.quiet_until, "the forge wants to be asked later"),
            (self._written_at + self._how.write_gap_s, "other writes go first"),
        ]
        if visit.writes_content:
            why = "the forge takes only so much content in an hour"
            reasons += [
                (spent.free_at(now, makes=visit.makes), why) for spent in self._spent
            ]
        return max(reasons)

    def _limited(self, visit: Visit, at: float, why: str) -> Limited:
        after_s = max(at - self.time.steady(), 0.0)
        return Limited(
            str(visit.ask), why, math.ceil((self.time.wall() + after_s) * 1000)
        )
