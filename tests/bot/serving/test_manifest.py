"""An App is made by one click, and its key is kept for its owner alone."""

import json
import stat
from collections.abc import AsyncIterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import respx

from bot.door.listening import listening
from bot.serving.github_app import (
    EVENTS,
    AppPages,
    AppRequest,
    check_free,
    dashboard_at,
)
from bot.settings.bot_settings import ServiceSettings, read_settings_as
from grite.errors import BratError
from tests.world import browser as browsers
from tests.world.app_key import pair
from tests.world.browser import PROGRAM
from tests.world.cases import looped

CODE = "a-code-that-is-good-once"
CONVERSION = f"https://api.github.com/app-manifests/{CODE}/conversions"
MADE = {
    "id": 7,
    "slug": "brat-of-alice",
    "html_url": "https://github.com/apps/brat-of-alice",
    "owner": {"login": "alice", "id": 42},
    "client_id": "Iv1.x",
    "client_secret": "made-up-client-secret",
    "webhook_secret": "made-up-webhook-secret",
}


@pytest.fixture
def wish(tmp_path: Path) -> AppRequest:
    return AppRequest(
        folder=tmp_path / "app",
        name="brat of alice",
        public_url="https://brat.example.com/",
        dashboard_url="https://brat.example.com",
    )


@pytest.fixture
async def maker(wish: AppRequest, client: httpx.AsyncClient) -> AsyncIterator[AppPages]:
    made = AppPages(
        wish=wish, client=client, address=lambda: f"http://127.0.0.1:{port}"
    )
    async with listening(made.application(), "127.0.0.1", 0) as port:
        yield made


def back(maker: AppPages, **given: str) -> str:
    asked = {"code": CODE, "state": maker.state, **given}
    return f"{maker.address()}/made?{httpx.QueryParams(asked)}"


async def led_back(
    maker: AppPages, status: int = 201, body: object = None, /, **given: str
) -> httpx.Response:
    """Come back from GitHub, which answers the code like this; return the page."""
    router = respx.MockRouter(assert_all_called=False)
    router.route(host="127.0.0.1").pass_through()
    made = {**MADE, "pem": pair()[0]} if body is None else body
    router.post(CONVERSION).respond(status, json=made)
    with router:
        return await maker.client.get(back(maker, **given))


async def test_the_form_asks_github_for_what_the_bot_needs(maker: AppPages) -> None:
    page = await maker.client.get(maker.url)

    action = unescape(page.text.split("action='")[1].split("'")[0])
    told = json.loads(unescape(page.text.split("value='")[1].split("'")[0]))
    assert action.startswith("https://github.com/settings/apps/new?")
    assert parse_qs(urlsplit(action).query) == {"state": [maker.state]}
    assert told["hook_attributes"] == {
        "url": "https://brat.example.com/webhooks/github",
        "active": True,
    }
    assert told["callback_urls"] == ["https://brat.example.com/login/done"]
    assert told["redirect_url"] == f"{maker.address()}/made"
    assert told["default_permissions"]["contents"] == "write"
    assert "workflows" not in told["default_permissions"]
    assert told["default_events"] == list(EVENTS)
    assert not any(event.startswith("installation") for event in EVENTS)
    assert page.headers["cache-control"] == "no-store"


def test_an_older_server_and_an_app_that_polls_are_told_of_less(
    wish: AppRequest,
) -> None:
    older = replace(wish, web_url="https://git.example.com").manifest("")
    newer = {"issue_dependencies", "sub_issues"}
    assert older["default_events"] == sorted({*EVENTS} - newer)

    polls = AppRequest(folder=wish.folder, name="brat", organisation="octo org")
    form = "https://github.com/organizations/octo%20org/settings/apps/new"
    assert polls.form_url == form
    told = polls.manifest("http://127.0.0.1:1/made")
    for left_out in ("hook_attributes", "default_events", "callback_urls"):
        assert left_out not in told


@pytest.mark.needs(PROGRAM, "npm")
async def test_its_pages_are_for_every_eye(maker: AppPages) -> None:
    async with browsers.launched() as browser, browsers.tab(browser) as tab:
        for path in (maker.url, back(maker, state="another")):
            await tab.page.goto(path)
            assert await tab.faults() == [], path


async def test_the_app_is_kept_for_its_owner_alone(maker: AppPages) -> None:
    page = await led_back(maker)

    assert page.status_code == 200
    assert "brat-of-alice/installations/new" in page.text
    assert maker.made.result().id == 7
    for name in ("app.pem", "bot.json"):
        assert stat.S_IMODE((maker.wish.folder / name).stat().st_mode) == 0o600
    told = read_settings_as(ServiceSettings, maker.wish.folder / "bot.json")
    assert told.private_key_file == maker.wish.folder / "app.pem"
    assert (told.app, told.allowed_owners) == ("brat-of-alice", (42,))
    assert told.dashboard_url == told.feed_url == "https://brat.example.com"
    assert told.dashboard_port not in (None, told.port)
    assert (told.client_id, told.client_secret) == ("Iv1.x", "made-up-client-secret")
    assert told.secret == "made-up-webhook-secret"
    assert (maker.wish.folder / "app.pem").read_text() == pair()[0]
    assert "PRIVATE" not in page.text
    assert "made-up" not in page.text
    assert "made-up" not in repr(told)


@looped(
    ("https://brat.example.com/", "", "https://brat.example.com"),
    ("https://x.example", "https://see.example/", "https://see.example"),
    ("https://x.example/hooks", "", ""),
    ("", "", ""),
    ("", "https://see.example", "https://see.example"),
)
def test_the_dashboard_is_where_the_bot_is_unless_said(
    public: str, wanted: str, at: str
) -> None:
    assert dashboard_at(public, wanted) == at
    for none in ("http://x.example", "https://x.example/y", "x"):
        with pytest.raises(BratError, match="use https://HOST, without a path"):
            dashboard_at(public, none)


async def test_the_form_is_for_who_has_the_token_by_its_own_name_and_once(
    maker: AppPages,
) -> None:
    ask = maker.client.get
    for token in ("", "x", "é"):
        page = await ask(f"{maker.address()}/", params={"token": token})
        assert page.status_code == 403
        assert "form" not in page.text
    led = await ask(maker.url, headers={"Host": "evil.example"})
    assert (led.status_code, led.text) == (421, "Unknown host name.\n")

    await led_back(maker)
    again = await led_back(maker)
    assert (again.status_code, (await ask(maker.url)).status_code) == (403, 403)


BEGUN = (201, None)


@looped(
    (*BEGUN, {"state": "another"}, 403),
    *((*BEGUN, {"code": code}, 400) for code in ("", "../user", "a/b", "x" * 201)),
    *((404, {}, {}, 502), (201, {"id": "x"}, {}, 502)),
    *((500, {}, {}, 502), (201, [], {}, 502)),
)
async def test_what_others_began_or_github_does_not_hand_over_is_said_and_keeps_nothing(
    answers: int,
    body: object,
    given: dict[str, str],
    status: int,
    maker: AppPages,
) -> None:
    page = await led_back(maker, answers, body, **given)

    assert page.status_code == status
    assert ("GitHub" in page.text) or status != 502
    assert not maker.made.done()
    assert not maker.wish.folder.exists()


async def test_an_app_that_is_there_is_not_overwritten(maker: AppPages) -> None:
    maker.wish.folder.mkdir()
    (maker.wish.folder / "app.pem").write_text("mine")

    with pytest.raises(BratError, match="already exists"):
        check_free(maker.wish.folder)
    page = await led_back(maker)

    assert page.status_code == 502
    assert (maker.wish.folder / "app.pem").read_text() == "mine"
