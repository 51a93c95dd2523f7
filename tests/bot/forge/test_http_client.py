"""How the client follows addresses, and what it never shows to whom."""

import socket
import traceback
from collections.abc import AsyncIterator

import httpx
import pytest
import respx
from hypothesis import example, given, strategies as st

from bot.forge import payloads
from bot.forge.pace import Pace
from bot.forge.rest import Refused, Rest
from bot.forge.transport import Wire
from grite.errors import Unavailable
from tests.world.cases import looped
from tests.world.hand import HandTime

API = "https://api.example.org"
OTHER = "https://elsewhere.example.org"
ANN = {"login": "ann", "type": "User"}


def shows_token(route: respx.Route) -> bool:
    request = route.calls.last.request
    return "made-up-token" in str(request.headers.raw) + str(request.url)


@looped(
    OTHER,
    "https://api.example.org:8443",
    "https://api.example.org.evil.example.org",
    "https://sub.api.example.org",
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
    plain = {"location": "http://api.example.org/user"}
    forge.get(f"{API}/user").respond(302, headers=plain)

    with pytest.raises(Unavailable, match="brat refused a redirect to http"):
        await rest.get("/user")


@looped(307, 308)
async def test_a_write_follows_within_the_forge(
    status: int, rest: Rest, forge: respx.MockRouter
) -> None:
    old = f"{API}/repos/octo/old/issues"
    forge.post(old).respond(status, headers={"location": "/repositories/9/issues"})
    new = forge.post(f"{API}/repositories/9/issues", json={"title": "x"})
    new.respond(201, json={"number": 7})

    body = {"title": "x"}
    made = await rest.make(payloads.Told, "/repos/octo/old/issues", body)

    assert made.number == 7
    assert shows_token(new)
    headers = new.calls.last.request.headers
    assert headers["accept"] == "application/vnd.github+json"
    assert headers["x-github-api-version"] == "2022-11-28"


@looped((301, API), (302, API), (307, OTHER), (308, OTHER))
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


@looped("secret-one\n", "secret-one\r\nx: y", "\0secret-one")
async def test_a_token_that_cannot_be_sent_is_not_quoted(
    token: str, hand: HandTime
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        api_url = f"http://127.0.0.1:{door.getsockname()[1]}"
        async with httpx.AsyncClient(trust_env=False) as client:
            rest = Rest(client, api_url=api_url, token=token, pace=Pace(time=hand.time))

            with pytest.raises(
                Unavailable, match="characters that are not allowed in a header"
            ) as error:
                await rest.get("/user")

    assert "secret-one" not in "".join(traceback.format_exception(error.value))


class Endless(httpx.AsyncByteStream):
    read = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            self.read += 1_000_000
            yield b" " * 1_000_000


async def test_a_download_without_end_is_refused(
    rest: Rest, forge: respx.MockRouter
) -> None:
    forge.get(f"{API}/zip").return_value = httpx.Response(200, stream=Endless())

    with pytest.raises(Refused, match="413"):
        await rest.download("/zip")


def test_a_forge_at_no_address_is_told_in_a_sentence(
    client: httpx.AsyncClient,
) -> None:
    with pytest.raises(Unavailable, match="the forge's API: its address is malformed"):
        Wire(client, "https://xn--av1.1/api/v3")


hosts = st.one_of(
    st.text(max_size=12),
    st.text("xn-.:[]%@0189aé\u3002", max_size=16).map("xn--{}".format),
    st.ip_addresses().map(str),
)
addresses = st.one_of(
    st.text(max_size=40),
    st.builds(
        "{}{}{}{}".format,
        st.sampled_from(["http://", "https://", "//", "", "ftp://", "http:", "\\\\"]),
        hosts,
        st.one_of(st.just(""), st.integers(-9, 99_999).map(":{}".format)),
        st.text(max_size=8).map("/{}".format),
    ),
)


@given(to=addresses, method=st.sampled_from(["GET", "POST"]))
@example(to="http://xn--av1.1/", method="GET")
@example(to="http://[::1/", method="GET")
@example(to="http://127.0.0.1:99999/", method="GET")
async def test_any_redirect_is_followed_or_told_in_a_sentence(
    to: str, method: str
) -> None:
    raw = to.encode(errors="surrogatepass").replace(b"\r", b"").replace(b"\n", b"")

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/first":
            return httpx.Response(307, headers=[(b"location", raw)])
        return httpx.Response(200, json={})

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        pace = Pace(time=HandTime().time)
        rest = Rest(client, api_url="http://127.0.0.1", token="made-up", pace=pace)
        told: object = None
        try:
            told = await rest.write(method, "/first")
        except (Unavailable, Refused) as error:
            told = str(error)
        assert told == {} or str(told).startswith(f"{method} /first: ")


# --- downloads: repeated from the start, and storage never sees the token -------------

ZIP = f"{API}/artifacts/9/zip"
STORAGE = "https://storage.example.com/9?sig=abc"


@looped((STORAGE, STORAGE), ("/stored/9", f"{API}/stored/9"))
async def test_storage_never_sees_the_token_though_it_may_be_on_the_same_host(
    location: str, url: str, rest: Rest, forge: respx.MockRouter
) -> None:
    asked = forge.get(ZIP).respond(302, headers={"location": location})
    stored = forge.get(url).respond(content=b"PK")

    assert await rest.download("/artifacts/9/zip") == b"PK"
    assert "made-up-token" in asked.calls.last.request.headers["authorization"]
    assert "made-up-token" not in str(stored.calls.last.request.headers.raw)


@looped(httpx.Response(503), httpx.Response(429), httpx.ReadError("cut off"))
async def test_a_download_is_repeated_from_the_start(
    outage: httpx.Response | Exception, rest: Rest, forge: respx.MockRouter
) -> None:
    asked = forge.get(ZIP).respond(302, headers={"location": STORAGE})
    stored = forge.get(STORAGE)
    stored.side_effect = [outage, httpx.Response(200, content=b"PK")]
    before = asked.call_count

    assert await rest.download("/artifacts/9/zip") == b"PK"
    assert asked.call_count == before + 2
