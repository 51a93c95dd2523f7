"""Nothing is sent in haste: one lane for writes, a few reads at once, budgets."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import httpx
import pytest
from hypothesis import given, strategies as st

from bot.forge.pace import (
    GITHUB_CONTENT,
    HOUR_S,
    HOURLY_OF_A_JOB,
    SHARED_OUT,
    Limited,
    OverShare,
    Pace,
    Pacing,
    RequestBudget,
    RequestShares,
    WriteLane,
    pacing,
)
from bot.forge.rest import Rest
from bot.forge.transport import Precedence, going
from grite.errors import Conflict
from tests.world.cases import looped
from tests.world.hand import HandTime

API = "https://api.example.org"
OK = httpx.Response(200, json={"login": "ann", "type": "User"})


@dataclass
class Road:
    """A forge that takes its time, and sees how many come at once."""

    hand: HandTime
    takes_s: float = 0.0
    starts: list[float] = field(default_factory=list)
    here: int = 0
    most: int = 0
    answer: Callable[[httpx.Request], httpx.Response] = lambda _: OK

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        self.starts.append(self.hand.passed)
        self.here += 1
        self.most = max(self.most, self.here)
        for _ in range(20):  # let whoever can come too
            await asyncio.sleep(0)
        self.hand.passed += self.takes_s
        self.here -= 1
        return self.answer(request)

    def rest(self, how: Pacing) -> Rest:
        client = httpx.AsyncClient(transport=httpx.MockTransport(self))
        pace = Pace(how, self.hand.time)
        return Rest(client, api_url=API, token="x", pace=pace)


async def test_answers_go_before_starts_and_starts_before_other_writes(
    hand: HandTime,
) -> None:
    urls: list[str] = []

    def note(request: httpx.Request) -> httpx.Response:
        urls.append(request.url.path)
        return OK

    rest = Road(hand, answer=note).rest(Pacing(write_gap_s=1.0))

    async def write(url: str, precedence: Precedence) -> None:
        with going(precedence):
            await rest.write("POST", url, {})

    async with asyncio.TaskGroup() as group:
        for number in range(3):
            group.create_task(rest.write("PATCH", f"/{number}", {}))
        group.create_task(write("/start", Precedence.START))
        group.create_task(write("/answer", Precedence.ANSWER))
        left = group.create_task(rest.write("PATCH", "/never", {}))
        await asyncio.sleep(0)
        left.cancel()

    assert urls == ["/0", "/answer", "/start", "/1", "/2"]


async def test_a_reaction_waits_for_no_write_and_needs_no_lease(
    hand: HandTime,
) -> None:
    rest = Road(hand).rest(Pacing(write_gap_s=1.0, content=GITHUB_CONTENT))
    await rest.write("PATCH", "/x", {})

    def forbidden() -> None:
        raise Conflict("the lease is lost")

    rest.guard = forbidden
    with going(Precedence.AT_ONCE):
        for _ in range(79):
            await rest.write("POST", "/reactions", {})
        with pytest.raises(Limited, match="forge's hourly limit for new content"):
            await rest.write("POST", "/reactions", {})

    assert hand.slept == []
    with pytest.raises(Conflict):
        await rest.write("DELETE", "/x")


async def test_who_leaves_while_it_is_called_or_served_hands_the_lane_on() -> None:
    lane, order = WriteLane(), list[int]()

    async def pass_through(number: int, *, stays: bool = False) -> None:
        async with lane.turn(Precedence.REST):
            order.append(number)
            if stays:
                await asyncio.Event().wait()

    async with asyncio.TaskGroup() as group:
        served = group.create_task(pass_through(0, stays=True))
        waiting = [group.create_task(pass_through(number)) for number in (1, 2, 3)]
        await asyncio.sleep(0)
        served.cancel()
        await asyncio.sleep(0)
        waiting[0].cancel()  # it was called, and has not run yet

    assert order == [0, 2, 3]


async def test_reads_are_a_few_at_once_and_pass_a_waiting_write(
    hand: HandTime,
) -> None:
    road = Road(hand)
    rest = road.rest(Pacing())

    async with asyncio.TaskGroup() as group:
        for number in range(40):
            group.create_task(rest.get(f"/{number}"))

    assert road.most == 8
    assert len(road.starts) == 40


async def test_many_that_meet_one_limit_are_one_meeting(hand: HandTime) -> None:
    busy = iter([httpx.Response(429)] * 8)
    road = Road(hand, answer=lambda _: next(busy, OK))
    rest = road.rest(Pacing())

    async with asyncio.TaskGroup() as group:
        for _ in range(8):
            group.create_task(rest.get("/user"))

    assert road.starts == [0] * 8 + [60] * 8


async def test_who_stood_in_line_for_too_long_is_told(hand: HandTime) -> None:
    road = Road(hand, takes_s=20)
    rest = road.rest(Pacing(write_wait_s=30))
    told = []

    async def write() -> None:
        try:
            await rest.write("POST", "/x", {})
        except Limited as limited:
            told.append(str(limited))

    async with asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(write())

    assert road.starts == [0, 20]
    said = "POST /x: other requests have priority; requests resume at 22:14:00 UTC"
    assert told == [said] * 2


async def test_content_stays_within_what_github_takes(hand: HandTime) -> None:
    road = Road(hand)
    rest = road.rest(Pacing(write_gap_s=0.1, content=GITHUB_CONTENT, write_wait_s=4000))

    for _ in range(600):
        await rest.write("POST", "/x", {})

    for seconds, most in ((60, 72), (3600, 450)):
        for start in road.starts:
            seen = sum(start <= moment < start + seconds for moment in road.starts)
            assert seen <= most


# --- a repository has its share, and people are answered first ------------------------

ISSUE = "/repos/alice/app/issues/1"
OTHER = "/repos/alice/other/issues/1"


@given(
    st.lists(st.floats(0, 60), min_size=1, max_size=300),
    st.integers(1, 400),
)
def test_no_hour_sees_more_than_the_whole_share(
    gaps: list[float], at_once: int
) -> None:
    shares, now, sent = RequestShares(hourly=200), 0.0, [0.0]
    for gap in gaps:
        now += gap
        for _ in range(at_once):
            if shares.free_at(ISSUE, now, Precedence.ANSWER) > now:
                break
            shares.spend(ISSUE, now)
            sent.append(now)

    for first in sent:
        within = [at for at in sent if first <= at < first + HOUR_S]
        assert len(within) <= 200 * SHARED_OUT + 2
    assert all(before <= after for before, after in pairwise(sent))


def test_one_repository_cannot_spend_what_another_needs() -> None:
    shares = RequestShares()
    shares.spend(OTHER, 0.0)
    while shares.free_at(ISSUE, 0.0, Precedence.ANSWER) <= 0.0:
        shares.spend(ISSUE, 0.0)

    assert shares.free_at(OTHER, 0.0, Precedence.REST) == 0.0


def budget(left: int) -> RequestBudget:
    return RequestBudget(limit=HOURLY_OF_A_JOB, left=left, resets_at=3_600.0)


@looped(
    (1_000, 0.0), (501, 0.0), (500, 45.0), (200, 180.0), (100, 3_600.0), (0, 3_600.0)
)
def test_looks_are_slower_the_fewer_requests_are_left(
    left: int, pause_s: float
) -> None:
    assert budget(left).pause_s(5, 0.0) == pause_s


async def test_what_is_kept_is_for_answers_to_people_until_the_hour_is_over(
    hand: HandTime,
) -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        headers = {
            "x-ratelimit-resource": "core",
            "x-ratelimit-limit": str(HOURLY_OF_A_JOB),
            "x-ratelimit-remaining": "100",
            "x-ratelimit-reset": str(int(hand.time.wall()) + 900),
        }
        return httpx.Response(200, json={}, headers=headers)

    road = Road(hand, answer=answer)
    rest = road.rest(pacing(1.0, of_a_job=True))
    await rest.get(ISSUE)

    with pytest.raises(OverShare, match="reserved for answering people") as refused:
        await rest.get(ISSUE)
    with going(Precedence.ANSWER):
        await rest.get(ISSUE)

    assert len(road.starts) == 2
    assert refused.value.retry_at == int(hand.time.wall() + 900) * 1000
    hand.passed += 901
    await rest.get(ISSUE)
