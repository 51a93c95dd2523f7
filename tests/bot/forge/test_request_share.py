"""A repository has its share of the requests, and people are answered first."""

from itertools import pairwise

import httpx
import pytest
from hypothesis import given, strategies as st

from bot.forge.pace import (
    HOUR_S,
    HOURLY_OF_A_JOB,
    HOURLY_OF_AN_INSTALLATION,
    KEPT_FOR_PEOPLE,
    SHARED_OUT,
    OverShare,
    Pace,
    RequestBudget,
    RequestShares,
    pacing,
    repository_of,
)
from bot.forge.payloads import Numbered
from bot.forge.rest import Rest
from bot.forge.transport import Precedence, going
from tests.world.cases import looped
from tests.world.hand import HandTime

ISSUE = "/repos/alice/app/issues/1"
OTHER = "/repos/alice/other/issues/1"


@looped(
    (ISSUE, "alice/app"),
    ("https://api.github.com/repos/Alice/App/pulls?page=2", "alice/app"),
    ("https://ghe.example.org/api/v3/repos/alice/app", "alice/app"),
    ("/app/hook/deliveries", ""),
    ("/repos/alice", ""),
)
def test_a_request_is_about_the_repository_in_its_address(url: str, name: str) -> None:
    assert repository_of(url) == name


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


def test_what_the_forge_does_not_count_is_given_back() -> None:
    shares = RequestShares()
    for _ in range(HOURLY_OF_AN_INSTALLATION):
        shares.spend(ISSUE, 0.0)
        shares.spend(ISSUE, 0.0, -1)

    assert shares.free_at(ISSUE, 0.0, Precedence.REST) == 0.0


async def test_each_page_of_a_list_counts_for_its_repository(hand: HandTime) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        later = "https://api.x/repositories/7/issues?page=2"
        is_first = "repositories" not in str(request.url)
        link = {"link": f'<{later}>; rel="next"'} if is_first else {}
        return httpx.Response(200, json=[], headers=link)

    client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    pace = Pace(pacing(1.0), hand.time)
    rest = Rest(client, api_url="https://api.x", token="x", pace=pace)
    assert [each async for each in rest.each(Numbered, "/repos/alice/app/issues")] == []

    assert pace.shares is not None
    now = hand.time.steady()
    assert left(pace.shares, now) == left(RequestShares(), now) - 2


def test_a_repository_that_asks_no_more_takes_no_share() -> None:
    shares = RequestShares()
    shares.spend(OTHER, 0.0)

    assert left(shares, HOUR_S - 1) * 2 == left(RequestShares(), 0.0)
    shares = RequestShares()
    shares.spend(OTHER, 0.0)
    assert left(shares, HOUR_S) == left(RequestShares(), 0.0)


def left(shares: RequestShares, now: float) -> int:
    """Return how many requests about the issue may go at once."""
    sent = 0
    while shares.free_at(ISSUE, now, Precedence.ANSWER) <= now:
        shares.spend(ISSUE, now)
        sent += 1
    return sent


URL = "/repos/alice/app/issues/1"


def budget(left: int) -> RequestBudget:
    return RequestBudget(limit=HOURLY_OF_A_JOB, left=left, resets_at=3_600.0)


@looped(
    (1_000, 0.0), (501, 0.0), (500, 45.0), (200, 180.0), (100, 3_600.0), (0, 3_600.0)
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

        with pytest.raises(OverShare, match="reserved for answering people") as refused:
            await rest.get(URL)
        with going(Precedence.ANSWER):
            await rest.get(URL)

        assert asked == 2
        assert refused.value.retry_at == int(hand.time.wall() + 900) * 1000
        hand.passed += 901
        await rest.get(URL)
