"""One request: where the token goes, how much is read, and what did not change."""

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
import respx

from bot import payloads
from bot.pace import Pace
from bot.rest import Refused, Rest
from bot.wire import JSON_BYTES, Ask, Pages, Reply
from grite.errors import Unavailable

API = "https://api.example.org"
OTHER = "https://elsewhere.example.org"
ANN = {"login": "ann", "type": "User"}


def shows_token(route: respx.Route) -> bool:
    """Whether the token was in the last request, anywhere."""
    request = route.calls.last.request
    return "made-up-token" in str(request.headers.raw) + str(request.url)


# --- redirects ------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_repository_that_was_renamed_is_found(
    status: int, rest: Rest, forge: respx.MockRouter
) -> None:
    moved = {"location": f"{API}/repositories/9"}
    forge.get(f"{API}/repos/octo/old").respond(status, headers=moved)
    found = forge.get(f"{API}/repositories/9").respond(json=ANN)

    assert await rest.get("/repos/octo/old") == ANN
    assert shows_token(found)


@pytest.mark.parametrize(
    "elsewhere",
    [
        OTHER,
        "https://api.example.org:8443",
        "https://api.example.org.evil.example.org",
        "https://sub.api.example.org",
    ],
)
async def test_another_origin_never_sees_the_token(
    elsewhere: str, rest: Rest, forge: respx.MockRouter
) -> None:
    forge.get(f"{API}/user").respond(302, headers={"location": f"{elsewhere}/x"})
    there = forge.get(f"{elsewhere}/x").respond(json=ANN)

    assert await rest.get("/user") == ANN
    assert not shows_token(there)


async def test_the_token_does_not_come_back_from_a_detour(
    rest: Rest, forge: respx.MockRouter
) -> None:
    forge.get(f"{API}/user").respond(302, headers={"location": f"{OTHER}/x"})
    forge.get(f"{OTHER}/x").respond(302, headers={"location": f"{API}/secret"})
    back = forge.get(f"{API}/secret").respond(404, json={"message": "Not Found"})

    with pytest.raises(Refused, match="404"):
        await rest.get("/user")

    assert not shows_token(back)


async def test_a_redirect_does_not_leave_https(
    rest: Rest, forge: respx.MockRouter
) -> None:
    forge.get(f"{API}/user").respond(
        302, headers={"location": "http://api.example.org/user"}
    )

    with pytest.raises(Unavailable, match="redirected to http: not followed"):
        await rest.get("/user")


async def test_redirects_come_to_an_end(rest: Rest, forge: respx.MockRouter) -> None:
    route = forge.get(f"{API}/user")
    route.respond(302, headers={"location": f"{API}/user"})

    with pytest.raises(Unavailable, match="redirected more than 3 times"):
        await rest.get("/user")

    assert route.call_count == 16  # four tries


@pytest.mark.parametrize("status", [307, 308])
async def test_a_write_follows_within_the_forge(
    status: int, rest: Rest, forge: respx.MockRouter
) -> None:
    old = f"{API}/repos/octo/old/issues"
    forge.post(old).respond(status, headers={"location": "/repositories/9/issues"})
    new = forge.post(f"{API}/repositories/9/issues", json={"title": "x"})
    new.respond(201, json={"number": 7})

    body = {"title": "x"}
    made = await rest.make(payloads.Numbered, "/repos/octo/old/issues", body)

    assert made.number == 7
    assert shows_token(new)


@pytest.mark.parametrize(
    ("status", "to"), [(301, API), (302, API), (307, OTHER), (308, OTHER)]
)
async def test_a_write_is_not_carried_elsewhere(
    status: int, to: str, rest: Rest, forge: respx.MockRouter
) -> None:
    forge.post(f"{API}/issues").respond(status, headers={"location": f"{to}/x"})

    with pytest.raises(Refused) as refused:
        await rest.write("POST", "/issues", {"title": "x"})

    assert refused.value.status == status


async def test_the_next_page_is_no_way_to_get_the_token(
    rest: Rest, forge: respx.MockRouter
) -> None:
    link = {"link": f'<{OTHER}/users>; rel="next"'}
    forge.get(f"{API}/users").respond(json=[ANN], headers=link)
    there = forge.get(f"{OTHER}/users").respond(json=[])

    assert [one async for one in rest.each(payloads.Account, "/users")]
    assert not shows_token(there)


# --- addresses and sizes --------------------------------------------------------------


@pytest.mark.parametrize(
    ("api_url", "asked"),
    [
        ("https://api.github.com", "https://api.github.com/user"),
        ("https://ghe.example.org/api/v3", "https://ghe.example.org/api/v3/user"),
        ("https://ghe.example.org/api/v3/", "https://ghe.example.org/api/v3/user"),
        ("http://127.0.0.1:9/api/v3", "http://127.0.0.1:9/api/v3/user"),
    ],
)
async def test_the_api_may_have_any_address(
    api_url: str,
    asked: str,
    client: httpx.AsyncClient,
    forge: respx.MockRouter,
) -> None:
    route = forge.get(asked).respond(json=ANN)

    assert await Rest(client, api_url=api_url, token="made-up-token").get("/user")
    assert shows_token(route)
    headers = route.calls.last.request.headers
    assert headers["accept"] == "application/vnd.github+json"
    assert headers["x-github-api-version"] == "2022-11-28"


async def test_a_query_may_hold_an_address(rest: Rest, forge: respx.MockRouter) -> None:
    route = forge.get(f"{API}/search?q=https://x").respond(json=ANN)

    assert await rest.get("/search?q=https://x") == ANN
    assert route.call_count == 1


class Endless(httpx.AsyncByteStream):
    """A body that never ends."""

    read = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            self.read += 1_000_000
            yield b" " * 1_000_000


async def test_an_answer_without_end_is_cut_off(
    rest: Rest, forge: respx.MockRouter
) -> None:
    body = Endless()
    route = forge.get(f"{API}/user")
    route.return_value = httpx.Response(200, stream=body)

    with pytest.raises(Unavailable, match="more than 10000000 bytes"):
        await rest.get("/user")

    assert route.call_count == 1
    assert body.read <= JSON_BYTES + 1_000_000


async def test_a_download_without_end_is_refused(
    rest: Rest, forge: respx.MockRouter
) -> None:
    forge.get(f"{API}/zip").return_value = httpx.Response(200, stream=Endless())

    with pytest.raises(Refused, match="413"):
        await rest.download("/zip")


# --- what did not change --------------------------------------------------------------


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

    with pytest.raises(Unavailable, match="not what GitHub answers"):
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
        pages.put(ask, Reply(200, {"etag": ask.url}, b"x"))

    kept = [ask.url for ask in numbered() if pages.get(ask)]

    assert kept == [f"/{number}" for number in range(90, 100)]


def test_only_so_many_bytes_are_kept() -> None:
    pages = Pages(most_bytes=1000)
    for size in (300, 299):  # the second in place of the first
        for ask in numbered():
            pages.put(ask, Reply(200, {"etag": "x"}, b"x" * size))

    kept = [ask.url for ask in numbered() if pages.get(ask)]

    assert kept == ["/97", "/98", "/99"]


def test_what_is_asked_for_often_is_kept_longest() -> None:
    pages = Pages(most=2)
    first, second, third, *_ = numbered()
    for ask in (first, second):
        pages.put(ask, Reply(200, {"etag": "x"}, b"x"))
    pages.get(first)
    pages.put(third, Reply(200, {"etag": "x"}, b"x"))

    assert [pages.get(ask) is not None for ask in (first, second, third)] == [1, 0, 1]
