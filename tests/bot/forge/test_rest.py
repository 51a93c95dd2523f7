"""REST calls: reads are repeated, writes never; every failure is one of two errors.

What the forge refuses as too much is in test_pace.
"""

import asyncio
import os
import socket
import ssl
import sys
import traceback
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
import respx
from aiohttp import web
from hypothesis import example, given, strategies as st

from bot.forge import payloads
from bot.forge.pace import Pace
from bot.forge.rest import Refused, Rest
from bot.forge.transport import Ask, HttpReply, Pages, Wire, async_client, client_of
from grite.errors import BratError, Unavailable
from grite.outbound import PROXIES, TRUST
from runner.session.feed_client import FeedError, connect, request
from tests.world.cases import looped
from tests.world.hand import HandTime
from tests.world.patience import patient
from tests.world.tls import ConnectProxy, connect_proxy, tls_before

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


async def test_a_refused_write_says_why_and_what_is_missing(
    rest: Rest, forge: respx.MockRouter
) -> None:
    needed = {"X-Accepted-GitHub-Permissions": "issues=write; pull_requests=write"}
    missing = "403: Not you. .required permission: issues=write; pull_requests=write.$"
    wrong = {"message": "Wrong.", "errors": [{"message": "No commits"}]}
    cases: list[tuple[int, object, dict[str, str], str]] = [
        (403, {"message": "Not you."}, needed, missing),
        (422, wrong, {}, "422: Wrong.: 'No commits'"),
        (422, [], {}, "422"),
        (422, "no", {}, "422"),
        (422, {"message": "no", "errors": [7]}, {}, "422"),
        (422, {"message": 7, "errors": 7}, {}, "422"),
    ]
    for count, (status, no, headers, said) in enumerate(cases, 1):
        more = {**headers, "X-RateLimit-Remaining": "4999"}
        route = forge.post(f"{API}/issues").respond(status, json=no, headers=more)

        with pytest.raises(Refused, match=said):
            await rest.write("POST", "/issues", {})

        assert route.call_count == count


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

    forge.get(f"{API}/user").mock(UNCHANGED)  # nobody asked whether it is
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


# --- how the client follows addresses, and what it never shows to whom ----------------

OTHER = "https://elsewhere.example.org"


def shows_token(route: respx.Route) -> bool:
    request = route.calls.last.request
    return "made-up-token" in str(request.headers.raw) + str(request.url)


@looped(
    OTHER,
    "https://api.example.org:8443",
    "https://api.example.org.evil.example.org",
    "https://sub.api.example.org",
)
async def test_another_origin_never_sees_the_token_nor_who_leads_back_from_it(
    elsewhere: str, rest: Rest, forge: respx.MockRouter
) -> None:
    forge.get(f"{API}/user").respond(302, headers={"location": f"{elsewhere}/x"})
    there = forge.get(f"{elsewhere}/x")
    there.respond(302, headers={"location": f"{API}/secret"})
    back = forge.get(f"{API}/secret").respond(json=ANN)
    link = {"link": f'<{elsewhere}/more>; rel="next"'}
    forge.get(f"{API}/users").respond(json=[ANN], headers=link)
    page = forge.get(f"{elsewhere}/more").respond(json=[])

    assert await rest.get("/user") == ANN
    assert await users(rest) == ["ann"]
    for route in (there, back, page):
        assert not shows_token(route)

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


# --- clients that go this machine's own way: by its proxy, trusting its authorities ---

HOST = "inside.example.test"
"""A name that nobody can resolve; the proxy knows where it is."""
URL = f"https://{HOST}/said"


@pytest.fixture
async def proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[ConnectProxy]:
    """The only way to `URL`, which answers in JSON; the environment leads there."""

    async def answer(_: web.Request) -> web.Response:
        return web.json_response({"said": "hi"})

    app = web.Application()
    app.router.add_get("/said", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port = int(runner.addresses[0][1])
        async with (
            tls_before(port, tmp_path, HOST) as (secure, authority),
            connect_proxy(secure, f"{HOST}:443") as served,
        ):
            for name in (*PROXIES, *TRUST):
                monkeypatch.delenv(name, raising=False)
            way = f"http://{served.person}@127.0.0.1:{served.port}"
            monkeypatch.setenv("HTTPS_PROXY", way)
            monkeypatch.setenv("SSL_CERT_FILE", str(authority))
            yield served
    finally:
        await runner.cleanup()


async def test_each_client_goes_through_the_proxy(proxy: ConnectProxy) -> None:
    def by_command() -> object:
        with client_of(URL, patient(20)) as http:
            return http.get(URL).json()

    def by_runner() -> object:
        line = connect(URL)
        try:
            return request(line, "GET", "/said", "Bearer x")
        finally:
            line.close()

    async with async_client(patient(20)) as http:
        assert (await http.get(URL)).json() == {"said": "hi"}
    for asked in (by_command, by_runner):
        assert await asyncio.to_thread(asked) == {"said": "hi"}
    assert len(proxy.heads) == 3


async def test_without_the_authority_nobody_is_believed_and_a_wrong_one_is_said(
    proxy: ConnectProxy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone.pem"))
    async with async_client(patient(20)) as http:
        with pytest.raises(BratError, match="correct SSL_CERT_FILE"):
            await http.get(URL)
    with pytest.raises(BratError, match="correct SSL_CERT_FILE"):
        client_of(URL, patient(20))
    with pytest.raises(FeedError, match="correct SSL_CERT_FILE"):
        connect(URL)
    assert proxy.heads == []

    monkeypatch.delenv("SSL_CERT_FILE")
    says = "or set SSL_CERT_FILE to its path"
    async with async_client(patient(20)) as http:
        with pytest.raises(httpx.ConnectError, match=says):
            await http.get(URL)
    with pytest.raises(OSError, match="certificate verify failed"):
        await asyncio.to_thread(connect, URL)
    assert len(proxy.heads) == 2


async def test_a_proxy_that_is_not_there_or_says_no_is_named(
    proxy: ConnectProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with async_client(patient(20)) as http:
        with pytest.raises(httpx.ProxyError, match=rf"127.0.0.1:{proxy.port}\)$"):
            await http.get("https://elsewhere.example.test")
        monkeypatch.setenv("HTTPS_PROXY", "http://me:made-up-pass@127.0.0.1:1")
        with pytest.raises(httpx.ConnectError) as refused:
            await http.get(URL)

    assert str(refused.value).endswith("(through the proxy 127.0.0.1:1)")


INSTALLED = f"""\
set -e
mkdir "$1"
cp "$2" "$1/$(openssl x509 -hash -noout -in "$2").0"
mount --bind "$1" "$3"
if [ -f "$4" ]; then mount --bind "$2" "$4"; fi
exec "$5" -I -c "
from bot.forge.transport import client_of
with client_of('{URL}', 10) as http:
    print(http.get('{URL}').text)
"
"""
"""Looks for a page where the system knows one authority, in its folder and its file."""


@pytest.mark.needs("unshare")
@pytest.mark.needs("openssl")
async def test_an_authority_that_the_machine_trusts_is_trusted(
    proxy: ConnectProxy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    authority = os.environ["SSL_CERT_FILE"]
    monkeypatch.delenv("SSL_CERT_FILE")
    system = ssl.get_default_verify_paths()
    given = (
        *(str(tmp_path / "installed"), authority),
        *(system.openssl_capath, system.openssl_cafile),
    )
    process = await asyncio.create_subprocess_exec(
        *("unshare", "--user", "--map-root-user", "--mount"),
        *("sh", "-c", INSTALLED, "sh", *given, sys.executable),
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()

    assert (process.returncode, out) == (0, b'{"said": "hi"}\n')
    assert len(proxy.heads) == 1
