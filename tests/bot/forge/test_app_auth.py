"""Being a GitHub App, tried on the local forge, which checks as GitHub does."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
import respx
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from bot.forge.app_auth import (
    MARGIN_S,
    PERMISSIONS,
    WORKFLOWS,
    AppKey,
    AppTokens,
    Grant,
)
from bot.forge.rest import Refused
from brat.forge.storage.forge_state import Forge
from grite.errors import BratError, Unavailable
from tests.world.app_key import pair
from tests.world.cases import looped
from tests.world.forge import REPO, Town, make_source, settle_in, town
from tests.world.github_forge.apps import Apps, NewApp
from tests.world.hand import NOON, HandTime

HAS = {"actions": "write", "contents": "write", "issues": "write", "metadata": "read"}
NEEDS = {"issues": "write", "metadata": "read"}


@pytest.fixture
async def here(tmp_path: Path, hand: HandTime) -> AsyncIterator[Town]:
    """Give a town whose forge's clock goes right, whatever ours does."""

    def clock() -> datetime:
        return datetime.fromtimestamp(NOON + hand.passed, UTC)

    with Forge(tmp_path / "forge", clock=clock) as forge:
        tokens = settle_in(forge, make_source(tmp_path / "source"))
        async with town(forge, tokens, tmp_path) as served:
            yield served


Make = Callable[..., AppTokens]


@pytest.fixture
def tokens(here: Town, hand: HandTime) -> Make:
    """Give what makes a source of an App's tokens, as wrong as is asked for."""
    app = Apps(here.forge).add(
        NewApp(slug="helper", owner="alice", public_key=pair()[1], permissions=HAS)
    )
    Apps(here.forge).install("helper", REPO)

    def make(
        key: str = "brat", app_id: str = str(app.id), **grant: object
    ) -> AppTokens:
        given = {"repository": REPO, "permissions": NEEDS, **grant}
        return AppTokens(
            here.client,
            api_url=f"{here.url}/api/v3",
            app=AppKey.from_pem(app_id, pair(key)[0]),
            grant=Grant(**given),  # type: ignore[arg-type]
            time=hand.time,
        )

    return make


def alive(here: Town) -> list[dict[str, str]]:
    known = (token.access for token in here.forge.store.tokens.all())
    return [dict(access.permissions) for access in known if access is not None]


async def test_a_token_is_asked_for_with_no_more_than_is_needed(
    here: Town, tokens: Make
) -> None:
    here.forge.add_repository("alice/other")
    Apps(here.forge).install("helper", "alice/other")
    here.tokens["app"] = await tokens().token()

    issue = await here.issue(by="app")
    merge = await here.ask("PUT", "pulls/1/merge", by="app")
    other = await here.ask("GET", "", by="app", repo="alice/other")

    assert (await here.get(f"issues/{issue}"))["user"]["login"] == "helper[bot]"
    assert (merge.status_code, other.status_code) == (403, 404)
    assert alive(here) == [NEEDS]


async def test_workflows_may_be_changed_where_the_app_may_change_them(
    here: Town, tokens: Make
) -> None:
    whole = NewApp(
        slug="whole",
        owner="alice",
        public_key=pair()[1],
        permissions={**PERMISSIONS, **WORKFLOWS},
    )
    less = replace(whole, slug="less", permissions=PERMISSIONS)
    for app in (whole, less):
        made = Apps(here.forge).add(app)
        Apps(here.forge).install(app.slug, REPO)
        await tokens(app_id=str(made.id), permissions=PERMISSIONS).token()

    assert alive(here) == [whole.permissions, less.permissions]


@pytest.mark.parametrize("ahead", [0, 3600, -3600, 86_400 * 365])
async def test_a_clock_that_is_wrong_is_put_right_by_the_answers(
    ahead: float, here: Town, tokens: Make, hand: HandTime
) -> None:
    hand.ahead = ahead
    source = tokens()

    first = await source.token()
    hand.passed = 3600 - MARGIN_S - 2
    same = await source.token()
    hand.passed += 4

    assert (await source.login(), same) == ("helper[bot]", first)
    assert await source.token() != first
    assert source.clock.offset_s == pytest.approx(-ahead, abs=1)


async def test_many_at_once_ask_for_one_token_which_the_end_revokes(
    here: Town, tokens: Make
) -> None:
    async with tokens() as source:
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(source.token()) for _ in range(20)]
        (here.tokens["app"],) = {task.result() for task in asked}
        assert len(alive(here)) == 1
        assert (await here.ask("GET", "issues", by="app")).status_code == 200

    assert (await here.ask("GET", "issues", by="app")).status_code == 401
    assert alive(here) == []
    await source.revoke()  # again


@looped(
    ({"app_id": "999"}, "check the App's id"),
    (
        {"permissions": {"checks": "write"}},
        "access to alice/app, grant the App checks: write",
    ),
)
async def test_what_the_app_or_its_owner_has_to_mend_is_said(
    given: dict[str, Any], said: str, tokens: Make
) -> None:
    with pytest.raises(Refused, match=said):
        await tokens(**given).token()


# --- tokens of an App, when the forge is away, busy or odd ----------------------------

API = "https://api.example.org"
TOKENS = f"{API}/app/installations/7/access_tokens"


@pytest.fixture
def alone(client: httpx.AsyncClient, hand: HandTime) -> AppTokens:
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


async def test_the_end_does_not_fail_when_nobody_answers(
    alone: AppTokens, forge: respx.MockRouter, caplog: pytest.LogCaptureFixture
) -> None:
    forge.post(TOKENS).mock(made("secret-one"))
    revoked = forge.delete(f"{API}/installation/token").respond(502)

    with caplog.at_level(logging.WARNING):
        async with alone:
            await alone.token()

    assert revoked.call_count == 1
    assert "cannot revoke the App" in caplog.text
    assert "secret-one" not in caplog.text


@looped(
    {"token": "secret-one"},
    {"token": "secret-one", "expires_at": "soon"},
    {"token": "secret-one", "expires_at": "2023-11-14T23:13:20"},
    {"token": "", "expires_at": "2023-11-14T23:13:20Z"},
)
async def test_an_odd_answer_does_not_give_the_token_away(
    body: object, alone: AppTokens, forge: respx.MockRouter
) -> None:
    forge.post(TOKENS).respond(201, json=body)

    with pytest.raises(Unavailable, match="invalid GitHub response") as odd:
        await alone.token()

    assert "secret-one" not in str(odd.value)


# --- an App's private key: it signs, and nothing shows it -----------------------------


async def test_nothing_shows_the_key(client: httpx.AsyncClient) -> None:
    private, _ = pair()
    key = AppKey.from_pem("Iv1.x", private)
    tokens = AppTokens(
        client, api_url="https://x", app=key, grant=Grant(repository="octo/project")
    )
    number = str(key.private_key.private_numbers().d)

    shown = f"{key!r} {key} {tokens!r} {vars(tokens)} {vars(tokens).values()}"

    assert "PRIVATE" not in shown
    assert number not in shown
    assert private.splitlines()[1] not in shown


def unfit() -> Iterator[str]:
    private, public = pair()
    yield from ("", "no key", public, private[:200])
    yield (
        ec.generate_private_key(ec.SECP256R1())
        .private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        .decode()
    )
    yield (
        load_pem_private_key(private.encode(), None)
        .private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x"))
        .decode()
    )


@looped(*unfit())
def test_a_file_that_is_no_key_is_said_and_not_quoted(pem: str) -> None:
    with pytest.raises(BratError) as error:
        AppKey.from_pem("Iv1.x", pem)

    assert str(error.value) == (
        "cannot read the private key of the App Iv1.x: use the .pem file that you "
        "downloaded from the App's settings"
    )
