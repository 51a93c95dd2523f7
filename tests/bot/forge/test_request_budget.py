"""The requests of a repository's jobs last the hour, and people are answered first."""

import httpx
import pytest
from hypothesis import given, strategies as st

from bot.forge.pace import OverShare, Pace, pacing
from bot.forge.rate_limits import HOURLY_OF_A_JOB, KEPT_FOR_PEOPLE, RequestBudget
from bot.forge.rest import Rest
from bot.forge.transport import Precedence, going
from tests.world.cases import looped
from tests.world.hand import HandTime

URL = "/repos/alice/app/issues/1"


def budget(left: int) -> RequestBudget:
    return RequestBudget(limit=HOURLY_OF_A_JOB, left=left, resets_at=3_600.0)


@looped(
    ("left", "pause_s"),
    [(1_000, 0.0), (501, 0.0), (500, 45.0), (200, 180.0), (100, 3_600.0), (0, 3_600.0)],
)
def test_looks_are_slower_the_fewer_requests_are_left(
    left: int, pause_s: float
) -> None:
    assert budget(left).pause_s(5, 0.0) == pause_s


@given(st.integers(0, HOURLY_OF_A_JOB), st.integers(1, 40), st.floats(0, 3_600))
def test_looks_after_such_pauses_leave_what_is_kept_for_people(
    left: int, cost: int, now: float
) -> None:
    known = budget(min(left, HOURLY_OF_A_JOB // 2))
    while now < known.resets_at and known.left >= cost:
        pause_s = known.pause_s(cost, now)
        if pause_s >= known.resets_at - now:
            break
        now += pause_s
        for _ in range(cost):
            known = known.spent()

    assert known.left >= min(left, HOURLY_OF_A_JOB * KEPT_FOR_PEOPLE - cost)


async def test_what_is_kept_is_for_answers_to_people_until_the_hour_is_over() -> None:
    hand, asked = HandTime(), 0

    def answer(_: httpx.Request) -> httpx.Response:
        nonlocal asked
        asked += 1
        headers = {
            "x-ratelimit-resource": "core",
            "x-ratelimit-limit": str(HOURLY_OF_A_JOB),
            "x-ratelimit-remaining": "100",
            "x-ratelimit-reset": str(int(hand.time.wall()) + 900),
        }
        return httpx.Response(200, json={}, headers=headers)

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        pace = Pace(pacing(1.0, of_a_job=True), time=hand.time)
        rest = Rest(client, api_url="https://api.github.com", token="t", pace=pace)
        await rest.get(URL)

        with pytest.raises(OverShare, match="kept for answers to people") as refused:
            await rest.get(URL)
        with going(Precedence.ANSWER):
            await rest.get(URL)

        assert asked == 2
        assert refused.value.retry_at == int(hand.time.wall() + 900) * 1000
        hand.passed += 901
        await rest.get(URL)
