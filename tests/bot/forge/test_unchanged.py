"""What did not change is not sent again, and only so much of it is kept."""

from collections.abc import Iterator

import httpx
import pytest
import respx

from bot.forge import payloads
from bot.forge.pace import Pace
from bot.forge.rest import Rest
from bot.forge.transport import Ask, HttpReply, Pages
from grite.errors import Unavailable

API = "https://api.example.org"
ANN = {"login": "ann", "type": "User"}


def tagged(*pages: object, tag: str) -> httpx.Response:
    return httpx.Response(200, json=list(pages), headers={"etag": tag})


UNCHANGED = httpx.Response(304)


async def test_what_did_not_change_is_not_sent_again(
    rest: Rest, forge: respx.MockRouter
) -> None:
    route = forge.get(f"{API}/users")
    route.side_effect = [tagged(1, tag='W/"a"'), UNCHANGED, tagged(2, tag='W/"b"')]

    assert [await rest.get("/users") for _ in range(3)] == [[1], [1], [2]]
    asked = [call.request.headers.get("if-none-match") for call in route.calls]
    assert asked == [None, 'W/"a"', 'W/"a"']


async def test_an_unchanged_page_still_leads_to_the_next(
    rest: Rest, forge: respx.MockRouter
) -> None:
    first = tagged(ANN, tag='"a"')
    first.headers["link"] = f'<{API}/users?page=2>; rel="next"'
    forge.get(f"{API}/users?page=2").side_effect = [
        tagged(ANN, tag='"b"'),
        tagged(ANN, ANN, tag='"c"'),
    ]
    forge.get(f"{API}/users").side_effect = [first, UNCHANGED]

    for expected in (2, 3):
        found = [one.login async for one in rest.each(payloads.Account, "/users")]
        assert found == ["ann"] * expected


async def test_writes_and_downloads_are_never_conditional(
    rest: Rest, forge: respx.MockRouter
) -> None:
    wrote = forge.patch(f"{API}/x").respond(json={}, headers={"etag": '"a"'})
    read = forge.get(f"{API}/x").respond(content=b"PK", headers={"etag": '"a"'})

    for _ in range(2):
        await rest.write("PATCH", "/x", {})
        await rest.download("/x")

    for call in (*wrote.calls, *read.calls):
        assert "if-none-match" not in call.request.headers


async def test_nobody_can_say_unchanged_who_was_not_asked(
    rest: Rest, forge: respx.MockRouter
) -> None:
    forge.get(f"{API}/user").mock(UNCHANGED)

    with pytest.raises(Unavailable, match="unexpected 304 from GitHub"):
        await rest.get("/user")


async def test_two_tokens_do_not_share_what_they_saw(
    client: httpx.AsyncClient, pace: Pace, forge: respx.MockRouter
) -> None:
    route = forge.get(f"{API}/user").respond(json=ANN, headers={"etag": '"a"'})

    for token in ("one", "other"):
        await Rest(client, api_url=API, token=token, pace=pace).get("/user")

    for call in route.calls:
        assert "if-none-match" not in call.request.headers


def numbered() -> Iterator[Ask]:
    return (Ask(method="GET", url=f"/{number}") for number in range(100))


def test_only_so_many_pages_are_kept() -> None:
    pages = Pages(most=10)
    for ask in numbered():
        pages.put(ask, HttpReply(200, {"etag": ask.url}, b"x"))

    kept = [ask.url for ask in numbered() if pages.get(ask)]

    assert kept == [f"/{number}" for number in range(90, 100)]


def test_only_so_many_bytes_are_kept() -> None:
    pages = Pages(most_bytes=1000)
    for size in (300, 299):  # the second in place of the first
        for ask in numbered():
            pages.put(ask, HttpReply(200, {"etag": "x"}, b"x" * size))

    assert [ask.url for ask in numbered() if pages.get(ask)] == ["/97", "/98", "/99"]
