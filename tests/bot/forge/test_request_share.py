"""A repository's requests stay within its share, and people are answered first."""

from itertools import pairwise

import httpx
import pytest
from hypothesis import given, strategies as st

from bot.forge.pace import OverShare, Pace, pacing
from bot.forge.payloads import Numbered
from bot.forge.rate_limits import (
    HOUR_S,
    HOURLY_OF_AN_INSTALLATION,
    SHARE_RESERVE,
    SHARED_OUT,
    RequestShares,
    repository_of,
)
from bot.forge.rest import Rest
from bot.forge.transport import Precedence, going
from tests.world.cases import looped
from tests.world.hand import HandTime

ISSUE = "/repos/alice/app/issues/1"
OTHER = "/repos/alice/other/issues/1"
SHARE = HOURLY_OF_AN_INSTALLATION * SHARED_OUT


@looped(
    ("url", "name"),
    [
        (ISSUE, "alice/app"),
        ("https://api.github.com/repos/Alice/App/pulls?page=2", "alice/app"),
        ("https://ghe.example.org/api/v3/repos/alice/app", "alice/app"),
        ("/app/hook/deliveries", ""),
        ("/repos/alice", ""),
    ],
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


async def test_answers_go_on_when_everything_else_waits(hand: HandTime) -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={})

    client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    how = pacing(1.0)
    rest = Rest(client, api_url="https://api.x", token="x", pace=Pace(how, hand.time))
    sent = 0
    with pytest.raises(OverShare, match="share is used up"):
        while True:
            await rest.get(ISSUE)
            sent += 1
    assert sent == SHARE / 2 * (1 - SHARE_RESERVE)
    with going(Precedence.ANSWER):
        await rest.get(ISSUE)

    hand.passed += HOUR_S
    await rest.get(ISSUE)


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
