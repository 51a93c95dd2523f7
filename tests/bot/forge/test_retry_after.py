"""What the forge refuses as too much comes again later, or is left to the caller."""

import httpx
import pytest
import respx

from bot.forge.pace import ForgeClock, Limited, Pace, Pacing, wait_s
from bot.forge.payloads import Edited
from bot.forge.rest import Rest
from bot.forge.transport import HttpReply
from tests.world.cases import looped
from tests.world.hand import NOON, HandTime

API = "https://api.example.org"
ANN = {"login": "ann", "type": "User"}
SECONDARY = {"message": "You have exceeded a secondary rate limit. Please wait."}
SOON = httpx.Response(403, json=SECONDARY, headers={"retry-after": "7"})
OK = httpx.Response(200, json=ANN)


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


@looped(200, 304, 401, 404, 422, 500, 503)
def test_only_403_and_429_say_later(status: int, hand: HandTime) -> None:
    reply = HttpReply(status, {"retry-after": "7"}, b"rate limit")

    assert wait_s(reply, ForgeClock(hand.time), streak=0, chance=0.0) is None


def test_a_limit_without_an_end_is_waited_for_longer_each_time(hand: HandTime) -> None:
    reply, clock = HttpReply(429, {}, b""), ForgeClock(hand.time)

    waits = [wait_s(reply, clock, streak=n, chance=0.0) for n in range(6)]
    spread = [wait_s(reply, clock, streak=n, chance=1.0) for n in range(2)]

    assert waits == [60, 120, 240, 480, 900, 900]
    assert spread == [75, 150]


async def test_the_reset_is_read_by_the_clock_of_the_forge(
    rest: Rest, forge: respx.MockRouter, hand: HandTime
) -> None:
    hand.ahead = 86_400  # somebody set our clock to tomorrow
    forge.get(f"{API}/user").side_effect = [spent(50), OK]

    assert await rest.get("/user") == ANN
    assert hand.slept == pytest.approx([50], abs=1)


async def test_a_long_wait_is_left_to_the_caller(
    rest: Rest, forge: respx.MockRouter, hand: HandTime
) -> None:
    route = forge.get(f"{API}/user")
    route.side_effect = [spent(1800), OK]

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
    forge.get(f"{API}/user").mock(OK)
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
    route.mock(SOON)

    with pytest.raises(Limited):
        await rest.get("/user")

    assert (route.call_count, hand.slept) == (3, [7, 7])


async def test_a_write_is_left_to_the_caller_though_reads_between_work(
    rest: Rest, forge: respx.MockRouter, hand: HandTime
) -> None:
    forge.get(f"{API}/user").mock(OK)
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
