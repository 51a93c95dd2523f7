"""When a client may send: one write at a time, a few reads at once, within limits.

Answers to people go before other writes, and what starts sessions before the rest; a
reaction that may be repeated waits for no other write at all.

Every request of a client passes here. If the forge refuses a request by a limit, it is
repeated after the wait that the forge wants, if that is short; else the caller gets
`Limited`. Until the wait is over, no such request is sent.

The forge counts all requests of an installation together: without shares, whatever goes
wrong in one repository would spend what the others need. All jobs of a repository
together have 1,000 requests an hour. How much content is written is limited besides.
https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

import asyncio
import math
import random
import re
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from heapq import heappop, heappush
from http import HTTPStatus
from itertools import count
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from bot.forge.transport import Ask, HttpReply, Precedence
from grite.errors import Unavailable

DATE_BEHIND_S: Final = 0.5
"""A `Date` header has whole seconds: on average it is behind by this much."""


def wall() -> float:
    return time.time_ns() / 1e9


@dataclass(frozen=True, kw_only=True)
class Time:
    wall: Callable[[], float] = wall
    """Unix seconds; a person may set this clock."""
    steady: Callable[[], float] = time.monotonic
    """Seconds of a clock that never goes back."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random
    """A random number from 0 to 1 that spreads simultaneous actions."""


REAL_TIME: Final = Time()


class ForgeClock:
    """The forge's time: ours, and the offset that its answers show."""

    def __init__(self, time: Time = REAL_TIME) -> None:
        self._time = time
        self.offset_s = 0.0
        """How far the forge's clock is ahead of ours."""

    def now(self) -> float:
        return self._time.wall() + self.offset_s

    def learn(self, date: str | None) -> None:
        """Learn the time from a `Date` header; a missing or invalid one is ignored."""
        moment = seconds_of(date)
        if moment is not None:
            self.offset_s = moment + DATE_BEHIND_S - self._time.wall()


def seconds_of(date: str | None) -> float | None:
    """Return an HTTP date in unix seconds; None if the text is no date."""
    try:
        return parsedate_to_datetime(date or "").timestamp()
    except (ValueError, OverflowError):
        return None


SECONDARY_S: Final = 60.0
"""The least to wait when the forge does not say how long."""
SECONDARY_MOST_S: Final = 900.0
HOLD_MOST_S: Final = 3900.0
"""The longest wait, just over the primary limit's window of an hour."""
LEAST_S: Final = 1.0
"""The forge names whole seconds."""
SPREAD_S: Final = 5.0
"""Many bots wait for the same moment: each waits up to this much longer."""
SPREAD: Final = 0.25
"""The same for waits without a moment named by the forge, as a share of the wait."""
_LIMITING: Final = (HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS)
_SAYS_SO: Final = (b"rate limit", b"abuse detection")
_OF_GRAPHQL: Final = re.compile(rb'"type": ?"RATE_LIMIT')
"""In an answer of 200; within a text of it, the quotes would be escaped."""


def wait_s(
    reply: HttpReply, clock: ForgeClock, *, streak: int, chance: float
) -> float | None:
    """Return how many seconds to wait before asking again; None: this is no limit.

    `clock` has learned from this answer already, `streak` limits came before in a row,
    and `chance`, from 0 to 1, spreads the waits of many bots.
    """
    told = reply.status == HTTPStatus.OK and _OF_GRAPHQL.search(reply.body, 0, 2000)
    if reply.status not in _LIMITING and not told:
        return None
    after = reply.headers.get("retry-after", "")
    reset = reply.headers.get("x-ratelimit-reset", "")
    is_spent = bool(told) or reply.headers.get("x-ratelimit-remaining") == "0"
    moment = seconds_of(after)
    if moment is None and is_spent and reset.isdecimal():
        moment = float(reset)
    named = None if moment is None else moment - clock.now()
    if after.isdecimal():
        named = float(after)
    if named is not None:
        return min(max(named, LEAST_S) + SPREAD_S * chance, HOLD_MOST_S)
    said = reply.body[:2000].lower()
    is_secondary = (
        reply.status == HTTPStatus.TOO_MANY_REQUESTS
        or "retry-after" in reply.headers
        or is_spent
        or any(words in said for words in _SAYS_SO)
    )
    if not is_secondary:
        return None
    waits = min(SECONDARY_S * 2.0**streak, SECONDARY_MOST_S)
    return waits * (1 + SPREAD * chance)


HOURLY_OF_A_JOB: Final = 1_000
"""What GitHub allows the jobs of a repository in an hour, together."""
KEPT_FOR_PEOPLE: Final = 0.1
"""The part of the allowance that is kept for answers to people."""
UNSLOWED: Final = 0.5
"""Above this part nothing is slowed."""


class RequestBudget(Struct, frozen=True, kw_only=True):
    limit: int
    left: int
    resets_at: float
    """When all of `limit` is there again, in steady seconds."""

    def spent(self) -> "RequestBudget":
        return replace(self, left=max(self.left - 1, 0))

    def is_kept(self, now: float) -> bool:
        return self.left <= self.limit * KEPT_FOR_PEOPLE and now < self.resets_at

    def pause_s(self, cost: float, now: float) -> float:
        """Return how long to wait after a look, so that others can be taken until then.

        A look takes `cost` requests; `now` is in steady seconds.
        """
        left_s = max(self.resets_at - now, 0.0)
        if self.left > self.limit * UNSLOWED:
            return 0.0
        spare = self.left - self.limit * KEPT_FOR_PEOPLE
        return min(left_s, cost * left_s / spare) if spare > 0 else left_s


HOURLY_OF_AN_INSTALLATION: Final = 5_000
"""What GitHub allows an installation in an hour, at least."""
SHARED_OUT: Final = 0.8
"""How much of that is shared out; the rest is left for the installation itself."""
SHARE_RESERVE: Final = 0.25
"""The part of a share that is kept for answers to people."""
HOUR_S: Final = 3600.0
_REPOSITORY: Final = re.compile(r"(?:https?://[^/]+(?:/api/v3)?)?/repos/([^/]+/[^/?]+)")


@dataclass
class _Share:
    left: float
    at: float
    """When that much was left, steady seconds."""


@dataclass
class RequestShares:
    """The shares of one installation's repositories.

    A share is half at hand and half refilled over the hour, so that no hour sees more
    than the whole of it.
    """

    hourly: int = HOURLY_OF_AN_INSTALLATION
    """How many requests the forge allows in an hour."""
    _shares: dict[str, _Share] = field(default_factory=dict)

    def free_at(self, url: str, now: float, precedence: Precedence) -> float:
        """Return when a request may be sent; times are steady seconds."""
        name = repository_of(url)
        if not name:
            return now
        left = self._filled(name, now).left
        kept = self._most * SHARE_RESERVE if precedence.can_wait else 0.0
        lacks = kept + 1.0 - left
        return now if lacks <= 0 else now + lacks * HOUR_S / self._most

    def spend(self, url: str, now: float, count: int = 1) -> None:
        """Count a request that is sent; with -1, one that the forge did not count."""
        if name := repository_of(url):
            self._filled(name, now).left -= count

    @property
    def _most(self) -> float:
        """How much of a share is at hand at most, and is refilled in an hour."""
        return self.hourly * SHARED_OUT / 2 / max(len(self._shares), 1)

    def _filled(self, name: str, now: float) -> _Share:
        if name not in self._shares:
            in_use = {
                each: share
                for each, share in self._shares.items()
                if now - share.at < HOUR_S
            }
            self._shares = in_use | {name: _Share(0.0, now)}
            self._shares[name].left = self._most
        share = self._shares[name]
        refilled = share.left + (now - share.at) * self._most / HOUR_S
        share.left, share.at = min(refilled, self._most), now
        return share


def repository_of(url: str) -> str:
    found = _REPOSITORY.match(url)
    return found[1].casefold() if found else ""


@dataclass(frozen=True)
class WriteBudget:
    """At most `most` pieces of content may be written in `seconds`."""

    most: int
    seconds: float
    reserve: int
    """The part of `most` that only answers to people, and changes of existing content,
    may use."""

    def free_at(self, written: Iterable[float], now: float, *, makes: bool) -> float:
        """Return when content may follow what was written, in seconds, oldest first."""
        lately = [at for at in written if at > now - self.seconds]
        over = len(lately) - self.most + (self.reserve if makes else 0)
        return lately[over] + self.seconds if over >= 0 else now


GITHUB_CONTENT: Final = (WriteBudget(80, 60, 8), WriteBudget(500, 3600, 50))
"""https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"""


class WriteLane:
    """A lock whose waiters are served by precedence, then in order; for one loop."""

    def __init__(self) -> None:
        self._taken = False
        self._line: list[tuple[Precedence, int, asyncio.Future[None]]] = []
        self._numbers = count()

    @asynccontextmanager
    async def turn(self, precedence: Precedence) -> AsyncIterator[None]:
        """Wait for the lane, and keep it while the block lasts."""
        called = asyncio.get_running_loop().create_future()
        heappush(self._line, (precedence, next(self._numbers), called))
        if not self._taken:
            self._call_next()
        try:
            await called
            yield
        finally:
            if not called.cancelled():  # else it left the line before it was called
                self._call_next()

    def _call_next(self) -> None:
        """Hand the lane to the first in line who still waits, else free it."""
        self._taken = False
        while self._line and not self._taken:
            _, _, called = heappop(self._line)
            if not called.done():
                called.set_result(None)
                self._taken = True


TRIES: Final = 5
PROMPT_AT_ONCE: Final = 4
"""How many writes that wait for no other may be under way."""


class Limited(Unavailable):
    """The forge's limits, or our own, allow no such request before `retry_at`.

    Nothing was changed: the request was not sent, or the forge refused it.
    """

    retry_at: int
    """Unix ms."""

    def __init__(self, what: str, why: str, retry_at: int) -> None:
        moment = datetime.fromtimestamp(math.ceil(retry_at / 1000), UTC)
        super().__init__(f"{what}: {why}; requests resume at {moment:%H:%M:%S} UTC")
        self.retry_at = retry_at


class OverShare(Limited):
    """The repository has used its share: only answers to people go on."""


@dataclass(frozen=True, kw_only=True)
class Pacing:
    write_gap_s: float = 0.0
    """The least time from the start of one write to the start of the next."""
    content: tuple[WriteBudget, ...] = ()
    hourly: int = 0
    """How many requests an installation has in an hour, evenly for its repositories;
    0: any number. The forge's answers correct it."""
    of_a_job: bool = False
    """Whether the token is a job's, whose requests are kept for people when few are
    left."""
    reads_at_once: int = 8
    read_wait_s: float = 120.0
    """How long a read may wait in all; then its caller gets `Limited`."""
    write_wait_s: float = 30.0
    """Shorter: a write is sent under a lease, which must not end meanwhile."""
    tries: int = TRIES
    """How often a limit may refuse one call."""


def pacing(write_gap_s: float, *, of_a_job: bool = False) -> Pacing:
    """Return the limits of a forge that wants this gap; 0: no limits."""
    if not write_gap_s:
        return Pacing()
    return Pacing(
        write_gap_s=write_gap_s,
        content=GITHUB_CONTENT,
        hourly=HOURLY_OF_A_JOB if of_a_job else HOURLY_OF_AN_INSTALLATION,
        of_a_job=of_a_job,
    )


@dataclass(kw_only=True)
class Visit:
    """One call on its way: it may be refused and repeated."""

    ask: Ask
    deadline: float
    """Steady seconds; the call does not wait beyond it."""
    tries: int = 0

    @property
    def prompt(self) -> bool:
        return not self.ask.reads and self.ask.precedence is Precedence.AT_ONCE

    @property
    def writes_content(self) -> bool:
        return not self.ask.reads and self.ask.body is not None


@dataclass
class _Side:
    """The forge's last limits on reads, or on writes."""

    quiet_until: float = -math.inf
    """Steady seconds."""
    streak: int = 0
    """How many were met in a row."""


class Pace:
    """Gives each call of an installation's clients its turn; for one event loop."""

    def __init__(
        self,
        how: Pacing = Pacing(),
        time: Time = REAL_TIME,
        clock: ForgeClock | None = None,
    ) -> None:
        self.time = time
        self.clock = clock or ForgeClock(time)
        self._how = how
        self._lane = WriteLane()
        self._prompt = asyncio.Semaphore(PROMPT_AT_ONCE)
        self._reads = asyncio.Semaphore(how.reads_at_once)
        most = max((budget.most for budget in how.content), default=0)
        self._content_at: deque[float] = deque(maxlen=most)
        """When content was written last."""
        self._written_at = -math.inf
        self._reading, self._writing = _Side(), _Side()
        self._graphql_from = -math.inf
        """When GraphQL's own allowance is there again, steady seconds."""
        self.shares = RequestShares(hourly=how.hourly) if how.hourly else None
        """What each repository may still ask; None: any number of requests."""
        self.left: int | None = None
        """The calls left by the forge's last answer; None: it has not said."""
        self.budget: RequestBudget | None = None
        """What is left of the hour's requests; None: the forge has not said."""

    def visit(self, ask: Ask) -> Visit:
        wait = self._how.read_wait_s if ask.reads else self._how.write_wait_s
        return Visit(ask=ask, deadline=self.time.steady() + wait)

    @asynccontextmanager
    async def turn(self, visit: Visit) -> AsyncIterator[None]:
        """Wait for the call's turn, and keep it while the block lasts."""
        few = self._reads if visit.ask.reads else self._prompt
        is_one_of_few = visit.ask.reads or visit.prompt
        async with few if is_one_of_few else self._lane.turn(visit.ask.precedence):
            await self._wait(visit)
            now = self.time.steady()
            visit.tries += 1
            if self.shares is not None:
                self.shares.spend(visit.ask.about, now)
            if self.budget is not None:
                self.budget = self.budget.spent()
            if not is_one_of_few:
                self._written_at = now
            if visit.writes_content:
                self._content_at.append(now)
            yield

    def pause_s(self, cost: float) -> float:
        """Return the pause after so many requests, so that others can follow."""
        return self.budget.pause_s(cost, self.time.steady()) if self.budget else 0.0

    def again(self, visit: Visit, reply: HttpReply) -> bool:
        """Note the answer; return whether to repeat the call after a wait."""
        if not reply.own:
            return False
        self._learn(visit, reply)
        side = self._reading if visit.ask.reads else self._writing
        # While it is quiet, only calls end that were under way when that began.
        is_next = self.time.steady() >= side.quiet_until
        before = side.streak if is_next else max(side.streak - 1, 0)
        chance = self.time.chance()
        wait = wait_s(reply, self.clock, streak=before, chance=chance)
        if wait is None or (reply.status == HTTPStatus.OK and not visit.ask.of_graphql):
            if is_next:
                side.streak = 0
            return False
        side.streak = before + 1
        # Writes are held back; reads if a read met a limit, or no call is left.
        spent = reply.headers.get("x-ratelimit-remaining") == "0"
        both, until = (self._reading, self._writing), self.time.steady() + wait
        if reply.status == HTTPStatus.OK:
            self._graphql_from = until
        else:
            for one in both if spent or visit.ask.reads else (self._writing,):
                one.quiet_until = max(one.quiet_until, until)
        if visit.tries >= self._how.tries:
            raise self._limited(visit, *self._free_at(visit))
        return True

    def _learn(self, visit: Visit, reply: HttpReply) -> None:
        """Learn the forge's time and the hour's requests from an answer."""
        self.clock.learn(reply.headers.get("date"))
        if self.shares is not None and not reply.counted:
            self.shares.spend(visit.ask.about, self.time.steady(), -1)
        names = ("limit", "remaining", "reset")
        told = [reply.headers.get(f"x-ratelimit-{name}", "") for name in names]
        limit, left, reset = (int(one) if one.isdecimal() else None for one in told)
        self.left = self.left if left is None else left
        if limit is None or reply.headers.get("x-ratelimit-resource") != "core":
            return
        if self.shares is not None:
            self.shares.hourly = max(limit, 1)
        if left is not None and reset is not None:
            resets_at = self.time.steady() + reset - self.clock.now()
            self.budget = RequestBudget(limit=limit, left=left, resets_at=resets_at)

    async def _wait(self, visit: Visit) -> None:
        now, ask = self.time.steady(), visit.ask
        is_kept = self._how.of_a_job and self.budget and self.budget.is_kept(now)
        if self.budget and is_kept and ask.precedence is Precedence.REST:
            said = "this hour's remaining requests are reserved for answering people"
            raise OverShare(str(ask), said, self.unix_ms(self.budget.resets_at))
        if self.shares is not None:  # nobody waits for a share that is used up
            at = self.shares.free_at(ask.about, now, ask.precedence)
            if at > now:
                why = "this repository has used its share of the hourly requests"
                raise OverShare(str(ask), why, self.unix_ms(at))
        while True:
            at, why = self._free_at(visit)
            now = self.time.steady()
            if now > visit.deadline:
                raise self._limited(visit, now, "other requests have priority")
            if at <= now:
                return
            if at > visit.deadline:
                raise self._limited(visit, at, why)
            await self.time.sleep(at - now)

    def _free_at(self, visit: Visit) -> tuple[float, str]:
        """Return when the call may be sent, and the reason for the wait."""
        now = self.time.steady()
        quiet = (self._reading if visit.ask.reads else self._writing).quiet_until
        quiet = max(quiet, self._graphql_from) if visit.ask.of_graphql else quiet
        reasons = [(quiet, "the forge asked for a pause")]
        if visit.ask.reads:
            return reasons[0]
        if not visit.prompt:
            free_at = self._written_at + self._how.write_gap_s
            reasons.append((free_at, "the previous write was too recent"))
        if visit.writes_content:
            why = "the forge's hourly limit for new content has been reached"
            makes = visit.ask.method == "POST" and visit.ask.precedence.can_wait
            reasons += [
                (each.free_at(self._content_at, now, makes=makes), why)
                for each in self._how.content
            ]
        return max(reasons)

    def _limited(self, visit: Visit, at: float, why: str) -> Limited:
        return Limited(str(visit.ask), why, self.unix_ms(at))

    def unix_ms(self, at: float) -> int:
        """Return a moment in steady seconds as unix ms, or now if it is over."""
        ahead_s = max(at - self.time.steady(), 0.0)
        return math.ceil((self.time.wall() + ahead_s) * 1000)
