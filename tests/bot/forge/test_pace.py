"""Nothing is sent in haste: one lane for writes, a few reads at once, budgets."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import httpx
import pytest
import respx
from hypothesis import given, strategies as st

from bot.forge.pace import (
    GITHUB_CONTENT,
    HOUR_S,
    HOURLY_OF_A_JOB,
    SHARED_OUT,
    ForgeClock,
    Limited,
    OverShare,
    Pace,
    Pacing,
    RequestBudget,
    RequestShares,
    WriteLane,
    pacing,
    wait_s,
)
from bot.forge.payloads import Edited
from bot.forge.rest import Rest
from bot.forge.transport import HttpReply, Precedence, going
from grite.errors import Conflict
from tests.world.cases import looped
from tests.world.hand import NOON, HandTime

API = "https://api.example.org"
ANN = {"login": "ann", "type": "User"}


def ok() -> httpx.Response:
    """Return an answer of its own: the client wraps the stream of each that it gets."""
    return httpx.Response(200, json=ANN)


@dataclass
class Road:
    """A forge that takes its time, and sees how many come at once."""

    hand: HandTime
    takes_s: float = 0.0
    starts: list[float] = field(default_factory=list)
    here: int = 0
    most: int = 0
    answer: Callable[[httpx.Request], httpx.Response] = lambda _: ok()

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
        return ok()

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


async def test_reads_are_a_few_at_once_and_meet_a_limit_together(
    hand: HandTime,
) -> None:
    road = Road(hand)
    rest = road.rest(Pacing())
    async with asyncio.TaskGroup() as group:
        for number in range(40):
            group.create_task(rest.get(f"/{number}"))
    assert road.most == 8
    assert len(road.starts) == 40

    busy = iter([httpx.Response(429)] * 8)
    road = Road(hand, answer=lambda _: next(busy, ok()))
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


@looped(
    (1_000, 0.0), (501, 0.0), (500, 45.0), (200, 180.0), (100, 3_600.0), (0, 3_600.0)
)
def test_looks_are_slower_the_fewer_requests_are_left(
    left: int, pause_s: float
) -> None:
    budget = RequestBudget(limit=HOURLY_OF_A_JOB, left=left, resets_at=3_600.0)
    assert budget.pause_s(5, 0.0) == pause_s


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


# --- what the forge refuses as too much comes again later, or is left to the caller ---


def spent(in_s: float, status: int = 403, **said: object) -> httpx.Response:
    """Return what is said when nothing is left for so many seconds."""
    headers = {
        "x-ratelimit-limit": "5000",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": str(int(NOON + in_s)),
        "date": "Tue, 14 Nov 2023 22:13:20 GMT",  # NOON
    }
    said = said or {"message": "API rate limit exceeded for installation ID 7."}
    return httpx.Response(status, json=said, headers=headers)


@looped(403, 429)
@looped(
    ({"retry-after": "7"}, "", 7),
    ({"retry-after": "0"}, "", 1),
    ({"retry-after": "Tue, 14 Nov 2023 22:13:50 GMT"}, "", 30),
    ({"retry-after": "soon"}, "", 60),
    ({"retry-after": "9999999"}, "", 3900),
    ({"retry-after": "7", "x-ratelimit-remaining": "0"}, "", 7),
    ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1700000090"}, "", 90),
    ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1600000000"}, "", 1),
    ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "later"}, "", 60),
    ({"x-ratelimit-remaining": "0"}, "", 60),
    ({"x-ratelimit-remaining": "9"}, "a Secondary Rate Limit", 60),
    ({}, "You have triggered an abuse detection mechanism.", 60),
)
def test_each_way_to_say_later_is_understood(
    headers: dict[str, str], said: str, waits: float, status: int, hand: HandTime
) -> None:
    reply = HttpReply(status, headers, said.encode())

    found = wait_s(reply, ForgeClock(hand.time), streak=0, chance=0.0)

    assert found == pytest.approx(waits)


def test_only_403_and_429_say_later_and_without_an_end_for_longer_each_time(
    hand: HandTime,
) -> None:
    clock = ForgeClock(hand.time)
    for status in (200, 304, 401, 404, 422, 500, 503):
        reply = HttpReply(status, {"retry-after": "7"}, b"rate limit")
        assert wait_s(reply, clock, streak=0, chance=0.0) is None

    reply = HttpReply(429, {}, b"")
    waits = [wait_s(reply, clock, streak=n, chance=0.0) for n in range(6)]
    spread = [wait_s(reply, clock, streak=n, chance=1.0) for n in range(2)]

    assert waits == [60, 120, 240, 480, 900, 900]
    assert spread == [75, 150]


async def test_the_reset_is_read_by_the_clock_of_the_forge(
    rest: Rest, forge: respx.MockRouter, hand: HandTime
) -> None:
    hand.ahead = 86_400  # somebody set our clock to tomorrow
    forge.get(f"{API}/user").side_effect = [spent(50), ok()]

    assert await rest.get("/user") == ANN
    assert hand.slept == pytest.approx([50], abs=1)


async def test_a_long_wait_is_left_to_the_caller(
    rest: Rest, forge: respx.MockRouter, hand: HandTime
) -> None:
    route = forge.get(f"{API}/user")
    route.side_effect = [spent(1800), ok()]

    with pytest.raises(Limited) as first:
        await rest.get("/user")
    with pytest.raises(Limited) as second:  # and until then nothing is sent
        await rest.get("/issues")
    with pytest.raises(Limited):
        await rest.write("POST", "/issues", {})
    asked_too_early = route.call_count
    hand.passed = first.value.retry_at / 1000 - NOON

    assert await rest.get("/user") == ANN
    assert asked_too_early == 1
    assert hand.slept == []
    assert first.value.retry_at == pytest.approx((NOON + 1800) * 1000, abs=1000)
    assert first.value.retry_at == second.value.retry_at
    assert str(first.value) == (
        "GET /user: the forge asked for a pause; requests resume at 22:43:20 UTC"
    )


async def test_graphqls_own_limit_holds_back_graphql_alone(
    rest: Rest, forge: respx.MockRouter
) -> None:
    forge.get(f"{API}/user").mock(ok())
    route = forge.post(f"{API}/graphql")
    route.mock(spent(1800, 200, errors=[{"type": "RATE_LIMITED", "message": "no"}]))

    for _ in range(2):
        with pytest.raises(Limited, match="requests resume at 22:43:20 UTC"):
            await rest.ask(Edited, "issue_edited", {})

    assert await rest.get("/user") == ANN
    assert route.call_count == 1


async def test_a_call_is_refused_only_so_often(
    client: httpx.AsyncClient, forge: respx.MockRouter, hand: HandTime
) -> None:
    pace = Pace(Pacing(tries=3), hand.time)
    rest = Rest(client, api_url=API, token="x", pace=pace)
    route = forge.get(f"{API}/user")
    said = {"message": "You have exceeded a secondary rate limit. Please wait."}
    route.respond(403, json=said, headers={"retry-after": "7"})

    with pytest.raises(Limited):
        await rest.get("/user")

    assert (route.call_count, hand.slept) == (3, [7, 7])


async def test_a_write_is_left_to_the_caller_though_reads_between_work(
    rest: Rest, forge: respx.MockRouter, hand: HandTime
) -> None:
    forge.get(f"{API}/user").mock(ok())
    forge.post(f"{API}/x").respond(429)
    waits = []
    for _ in range(3):
        with pytest.raises(Limited) as limited:
            await rest.write("POST", "/x", {})
        await rest.get("/user")
        waits.append(limited.value.retry_at / 1000 - hand.passed - NOON)
        hand.passed += waits[-1]

    assert waits == [60, 120, 240]
    assert hand.slept == [], "a lease does not last as long"
