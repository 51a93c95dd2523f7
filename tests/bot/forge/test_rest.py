"""REST calls: reads are repeated, writes never; every failure is one of two errors.

What the forge refuses as too much is in test_pace, redirects and sizes in test_wire.
"""

from collections.abc import Iterator

import httpx
import pytest
import respx

from bot.forge import payloads
from bot.forge.pace import Pace
from bot.forge.rest import Refused, Rest
from bot.forge.transport import Ask, HttpReply, Pages
from grite.errors import Unavailable
from tests.world.cases import looped

API = "https://api.example.org"
ANN = {"login": "ann", "type": "User"}
OUTAGES: list[httpx.Response | Exception] = [
    httpx.Response(500),
    httpx.Response(502, html="<h1>Bad gateway</h1>"),
    httpx.Response(503, json={"message": "away"}),
    httpx.Response(520, text="from some proxy"),
    httpx.ConnectError("refused"),
    httpx.ReadTimeout("too slow"),
    httpx.RemoteProtocolError("cut off"),
]
outages = pytest.mark.parametrize("outage", OUTAGES, ids=repr)


async def users(rest: Rest, url: str = "/users", key: str | None = None) -> list[str]:
    return [user.login async for user in rest.each(payloads.Account, url, key)]


@outages
async def test_a_read_is_repeated_until_the_forge_is_back_or_given_up_in_the_end(
    outage: httpx.Response | Exception, rest: Rest, forge: respx.MockRouter
) -> None:
    route = forge.get(f"{API}/user")
    route.side_effect = [outage, outage, outage, httpx.Response(200, json=ANN)]

    assert (await rest.read(payloads.Account, "/user")).login == "ann"
    assert route.call_count == 4

    route.side_effect = [outage] * 4
    with pytest.raises(Unavailable, match="GET /user"):
        await rest.get("/user")
    assert route.call_count == 8


NEEDED = "issues=write; pull_requests=write"


@looped(
    (
        *(403, {"message": "Not you."}, {"X-Accepted-GitHub-Permissions": NEEDED}),
        f"403: Not you. .required permission: {NEEDED}.$",
    ),
    (
        *(422, {"message": "Wrong.", "errors": [{"message": "No commits"}]}, {}),
        "422: Wrong.: 'No commits'",
    ),
    (422, [], {}, "422"),
    (422, "no", {}, "422"),
    (422, {"message": "no", "errors": [7]}, {}, "422"),
    (422, {"message": 7, "errors": 7}, {}, "422"),
)
async def test_a_refused_write_says_why_and_what_is_missing(
    status: int,
    no: object,
    headers: dict[str, str],
    said: str,
    rest: Rest,
    forge: respx.MockRouter,
) -> None:
    more = {**headers, "X-RateLimit-Remaining": "4999"}
    route = forge.post(f"{API}/issues").respond(status, json=no, headers=more)
    before = route.call_count

    with pytest.raises(Refused, match=said):
        await rest.write("POST", "/issues", {})

    assert route.call_count == before + 1


@looped(
    *((text, "application/json") for text in (b'{"login": 7}', b"{}", b"[]", b"null")),
    (b"{", "application/json"),
    (b"\xff", "application/json; charset=utf-8"),
    (b"{}", "application/json; charset=no-such"),
    (b"<html>sign in</html>", "text/html"),
    (b"", "application/json"),
)
async def test_an_answer_that_cannot_be_read_is_a_broken_forge(
    text: bytes, kind: str, rest: Rest, forge: respx.MockRouter
) -> None:
    forge.get(f"{API}/user").respond(content=text, content_type=kind)

    with pytest.raises(Unavailable, match="GET /user: invalid GitHub response"):
        await rest.read(payloads.Account, "/user")


async def test_a_list_that_leads_back_to_itself_ends(
    rest: Rest, forge: respx.MockRouter
) -> None:
    link = {"link": f'<{API}/users>; rel="next", <{API}/users>; rel="first"'}
    forge.get(f"{API}/users").respond(json=[ANN], headers=link)

    with pytest.raises(Unavailable, match="invalid GitHub response: 1000 pages"):
        await users(rest)


@looped(None, "users")
@looped(None, 7, "ann", {}, {"users": 7}, {"users": [7]}, [{"name": "ann"}])
async def test_what_is_no_list_is_a_broken_forge(
    json: object, key: str | None, rest: Rest, forge: respx.MockRouter
) -> None:
    forge.get(f"{API}/users").respond(json=json)

    with pytest.raises(Unavailable, match="GET /users: invalid GitHub response"):
        await users(rest, key=key)


@outages
@pytest.mark.parametrize("method", ["POST", "PATCH", "DELETE", "PUT"])
async def test_a_write_is_never_repeated(
    method: str,
    outage: httpx.Response | Exception,
    rest: Rest,
    forge: respx.MockRouter,
) -> None:
    route = forge.route(method=method, url=f"{API}/issues/7")
    route.side_effect = [outage]

    with pytest.raises(Unavailable, match=f"{method} /issues/7"):
        await rest.write(method, "/issues/7", {"title": "x"})

    assert route.call_count == 1


# --- what did not change is not sent again --------------------------------------------


def tagged(*pages: object, tag: str) -> httpx.Response:
    return httpx.Response(200, json=list(pages), headers={"etag": tag})


UNCHANGED = httpx.Response(304)


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
        assert await users(rest) == ["ann"] * expected


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


def test_only_so_many_pages_and_bytes_are_kept() -> None:
    pages = Pages(most=10)
    for ask in numbered():
        pages.put(ask, HttpReply(200, {"etag": ask.url}, b"x"))

    kept = [ask.url for ask in numbered() if pages.get(ask)]

    assert kept == [f"/{number}" for number in range(90, 100)]

    pages = Pages(most_bytes=1000)
    for size in (300, 299):  # the second in place of the first
        for ask in numbered():
            pages.put(ask, HttpReply(200, {"etag": "x"}, b"x" * size))

    assert [ask.url for ask in numbered() if pages.get(ask)] == ["/97", "/98", "/99"]
