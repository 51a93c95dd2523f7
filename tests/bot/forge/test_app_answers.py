"""Tokens of an App, when the forge is away, busy or odd."""

import json
import logging

import httpx
import pytest
import respx

from bot.forge.app_auth import MARGIN_S, AppKey, AppTokens, Grant
from bot.forge.rest import Refused, Rest
from grite.errors import Unavailable
from tests.world.app_key import pair
from tests.world.forge import REPO
from tests.world.hand import HandTime

API = "https://api.example.org"
NEEDS = {"issues": "write", "metadata": "read"}
TOKENS = f"{API}/app/installations/7/access_tokens"


@pytest.fixture
def alone(client: httpx.AsyncClient, hand: HandTime) -> AppTokens:
    """Give tokens of a forge that only answers what a test says."""
    return AppTokens(
        client,
        api_url=API,
        app=AppKey.from_pem("Iv1.x", pair()[0]),
        grant=Grant(repository=REPO, permissions=NEEDS, installation=7),
        time=hand.time,
    )


def made(secret: str, expires_at: str = "2023-11-14T23:13:20Z") -> httpx.Response:
    return httpx.Response(201, json={"token": secret, "expires_at": expires_at})


async def test_the_old_token_serves_while_nobody_answers(
    alone: AppTokens, forge: respx.MockRouter, hand: HandTime
) -> None:
    route = forge.post(TOKENS)
    route.side_effect = [made("one"), *[httpx.Response(502)] * 2]
    await alone.token()

    hand.passed = 3600 - MARGIN_S + 10
    assert await alone.token() == "one"
    hand.passed = 3601
    with pytest.raises(Unavailable):
        await alone.token()

    assert json.loads(route.calls[0].request.content) == {
        "repositories": ["app"],
        "permissions": NEEDS,
    }


async def test_a_limit_is_waited_out_for_a_token_too(
    alone: AppTokens, forge: respx.MockRouter, hand: HandTime
) -> None:
    busy = httpx.Response(429, headers={"retry-after": "9"})
    forge.post(TOKENS).side_effect = [busy, made("one")]

    assert await alone.token() == "one"
    assert hand.slept == [9]


async def test_the_end_does_not_fail_when_nobody_answers(
    alone: AppTokens, forge: respx.MockRouter, caplog: pytest.LogCaptureFixture
) -> None:
    forge.post(TOKENS).mock(made("secret-one"))
    revoked = forge.delete(f"{API}/installation/token").respond(502)

    with caplog.at_level(logging.WARNING):
        async with alone:
            await alone.token()

    assert revoked.call_count == 1
    assert "could not be revoked" in caplog.text
    assert "secret-one" not in caplog.text


async def test_two_times_401_is_a_no(
    alone: AppTokens, client: httpx.AsyncClient, forge: respx.MockRouter
) -> None:
    asked = forge.post(TOKENS)
    asked.side_effect = [made("one"), made("two")]
    route = forge.get(f"{API}/x").respond(401, json={"message": "Bad credentials"})

    with pytest.raises(Refused, match="Bad credentials"):
        await Rest(client, api_url=API, token=alone).get("/x")

    shown = [call.request.headers["authorization"] for call in route.calls]
    assert shown == ["Bearer one", "Bearer two"]


@pytest.mark.parametrize(
    "body",
    [
        {"token": "secret-one"},
        {"token": "secret-one", "expires_at": "soon"},
        {"token": "secret-one", "expires_at": "2023-11-14T23:13:20"},
        {"token": "", "expires_at": "2023-11-14T23:13:20Z"},
    ],
)
async def test_an_odd_answer_does_not_give_the_token_away(
    body: object, alone: AppTokens, forge: respx.MockRouter
) -> None:
    forge.post(TOKENS).respond(201, json=body)

    with pytest.raises(Unavailable, match="not a GitHub answer") as odd:
        await alone.token()

    assert "secret-one" not in str(odd.value)
