"""Nothing is sent in haste: one lane for writes, a few reads at once, budgets."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import httpx
import pytest

from bot.forge.pace import GITHUB_CONTENT, Limited, Pace, Pacing, WriteLane, pacing
from bot.forge.rest import Rest
from bot.forge.transport import Precedence, going
from grite.errors import Conflict
from tests.world.hand import NOON, HandTime

API = "https://api.example.org"
OK = httpx.Response(200, json={"login": "ann", "type": "User"})

# --- one lane for writes, a few reads at once -----------------------------------------


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


async def test_writes_go_one_after_another_with_a_gap(hand: HandTime) -> None:
    road = Road(hand, takes_s=0.25)
    rest = road.rest(Pacing(write_gap_s=1.0))

    async with asyncio.TaskGroup() as group:
        for method in ("POST", "PATCH", "DELETE", "PUT", "POST"):
            group.create_task(rest.write(method, "/x", {}))

    assert road.most == 1
    assert road.starts == [0, 1, 2, 3, 4]


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


async def test_who_is_called_and_leaves_hands_the_lane_on() -> None:
    lane, order = WriteLane(), list[int]()

    async def pass_through(number: int) -> None:
        async with lane.turn(Precedence.REST):
            order.append(number)

    async with asyncio.TaskGroup() as group:
        async with lane.turn(Precedence.REST):
            waiting = [group.create_task(pass_through(number)) for number in range(3)]
            await asyncio.sleep(0)
        waiting[0].cancel()  # it was called, and has not run yet

    assert order == [1, 2]


async def test_the_local_forge_is_not_made_to_wait(hand: HandTime) -> None:
    rest = Road(hand).rest(pacing(0))

    for _ in range(600):
        await rest.write("POST", "/x", {})

    assert hand.slept == []


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


async def test_a_write_that_is_given_up_frees_the_lane(hand: HandTime) -> None:
    arrived = asyncio.Event()

    async def stuck(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/stuck":
            arrived.set()
            await asyncio.Event().wait()
        return OK

    transport = httpx.MockTransport(stuck)
    async with (
        httpx.AsyncClient(transport=transport) as client,
        asyncio.TaskGroup() as g,
    ):
        rest = Rest(client, api_url=API, token="x", pace=Pace(time=hand.time))
        first = g.create_task(rest.write("POST", "/stuck", {}))
        await arrived.wait()
        second = g.create_task(rest.write("POST", "/free", {}))
        first.cancel()

        assert (await second)["login"] == "ann"


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
    assert (
        told
        == [
            "POST /x: other requests have priority; requests resume at 22:14:00 UTC",
        ]
        * 2
    )


# --- so much content in a minute, so much in an hour ----------------------------------


async def test_content_stays_within_what_github_takes(hand: HandTime) -> None:
    road = Road(hand)
    rest = road.rest(Pacing(write_gap_s=0.1, content=GITHUB_CONTENT, write_wait_s=4000))

    for _ in range(600):
        await rest.write("POST", "/x", {})

    for seconds, most in ((60, 72), (3600, 450)):
        for start in road.starts:
            seen = sum(start <= moment < start + seconds for moment in road.starts)
            assert seen <= most


async def test_the_last_of_it_is_for_what_is_there_already(hand: HandTime) -> None:
    rest = Road(hand).rest(Pacing(content=GITHUB_CONTENT))
    for _ in range(72):
        await rest.write("POST", "/x", {})

    with pytest.raises(
        Limited, match="forge's hourly limit for new content has been reached"
    ) as limited:
        await rest.write("POST", "/x", {})
    for _ in range(8):
        await rest.write("PATCH", "/x", {})
    with pytest.raises(Limited):
        await rest.write("PATCH", "/x", {})
    await rest.write("POST", "/runs/1/cancel")  # it carries no content
    await rest.write("DELETE", "/x")

    assert limited.value.retry_at == (NOON + 60) * 1000
    assert hand.slept == []
