"""A forge's limits on requests: the clock they are told by, waits, and shares.

The forge counts all requests of an installation together: without shares, whatever goes
wrong in one repository would spend what the others need. All jobs of a repository
together have 1,000 requests an hour. How much content is written is limited besides.
https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

import asyncio
import random
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

from msgspec import Struct

from bot.forge.transport import HttpReply, Precedence

DATE_BEHIND_S: Final = 0.5
"""A `Date` header has whole seconds: on average it is behind by this much."""


def wall() -> float:
    """Return the time, unix seconds."""
    return time.time_ns() / 1e9


@dataclass(frozen=True, kw_only=True)
class Time:
    """The machine's clocks, its randomness, and a way to wait."""

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


def wait_s(
    reply: HttpReply, clock: ForgeClock, *, streak: int, chance: float
) -> float | None:
    """Return how many seconds to wait before asking again; None: this is no limit.

    `clock` has learned from this answer already, `streak` limits came before in a row,
    and `chance`, from 0 to 1, spreads the waits of many bots.
    """
    if reply.status not in _LIMITING:
        return None
    named = _named_wait(reply, clock)
    if named is not None:
        return min(max(named, LEAST_S) + SPREAD_S * chance, HOLD_MOST_S)
    if not _is_secondary(reply):
        return None
    waits = min(SECONDARY_S * 2.0**streak, SECONDARY_MOST_S)
    return waits * (1 + SPREAD * chance)


def _named_wait(reply: HttpReply, clock: ForgeClock) -> float | None:
    after = reply.headers.get("retry-after", "")
    if after.isdecimal():
        return float(after)
    moment = seconds_of(after)
    if moment is None and reply.headers.get("x-ratelimit-remaining") == "0":
        reset = reply.headers.get("x-ratelimit-reset", "")
        moment = float(reset) if reset.isdecimal() else None
    return None if moment is None else moment - clock.now()


def _is_secondary(reply: HttpReply) -> bool:
    said = reply.body[:2000].lower()
    return (
        reply.status == HTTPStatus.TOO_MANY_REQUESTS
        or "retry-after" in reply.headers
        or reply.headers.get("x-ratelimit-remaining") == "0"
        or any(words in said for words in _SAYS_SO)
    )


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
        return RequestBudget(
            limit=self.limit, left=max(self.left - 1, 0), resets_at=self.resets_at
        )

    def is_kept(self, now: float) -> bool:
        """Whether what is left is for answers to people alone."""
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
    """Return the repository that a request is about; empty: about none."""
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


GITHUB_CONTENT: Final = (WriteBudget(80, 60, 8), WriteBudget(500, 3600, 50))
"""https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"""


@dataclass
class SpentBudget:
    budget: WriteBudget
    moments: deque[float] = field(default_factory=deque)

    def free_at(self, now: float, *, makes: bool) -> float:
        while self.moments and self.moments[0] <= now - self.budget.seconds:
            self.moments.popleft()
        most = self.budget.most - (self.budget.reserve if makes else 0)
        over = len(self.moments) - most
        return self.moments[over] + self.budget.seconds if over >= 0 else now
