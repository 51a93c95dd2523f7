"""Addresses that a forge names and nobody can go to."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from aiohttp import web
from hypothesis import example, given, strategies as st

from bot.forge.pace import Pace
from bot.forge.rest import Refused, Rest
from bot.forge.transport import Wire
from grite.errors import Unavailable
from tests.world.cases import looped
from tests.world.hand import HandTime

ILL_FORMED = [
    "http://xn--av1.1/",
    "http://xn--/",
    "http://[::1/",
    "http://127.0.0.1:99999/",
    "http://127.0.0.1:-1/",
    "http://256.1.1.1/",
    "http://\xad/",
    "//xn--av1.1",
]


@asynccontextmanager
async def redirecting(to: str) -> AsyncIterator[str]:
    """Serve redirects to one place on loopback; give the address."""

    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=307, headers={"location": to})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@looped("method", ["GET", "POST"])
@looped("to", ILL_FORMED)
async def test_a_redirect_to_no_address_is_told_in_a_sentence(
    to: str, method: str, client: httpx.AsyncClient, pace: Pace
) -> None:
    async with redirecting(to) as api_url:
        rest = Rest(client, api_url=api_url, token="made-up", pace=pace)
        asked = rest.get("/user") if method == "GET" else rest.write(method, "/user")

        with pytest.raises(Unavailable, match=f"^{method} /user: .*([Ii]nvalid|ill-f)"):
            await asked


@looped("url", ILL_FORMED)
async def test_a_next_page_at_no_address_is_told_in_a_sentence(
    url: str, rest: Rest
) -> None:
    with pytest.raises(Unavailable, match="its address is ill-formed"):
        await rest.get(url if "://" in url else f"http:{url}")


def test_a_forge_at_no_address_is_told_in_a_sentence(
    client: httpx.AsyncClient,
) -> None:
    with pytest.raises(Unavailable, match="the forge's API: its address is ill-formed"):
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
async def test_any_redirect_is_followed_or_told_in_a_sentence(
    to: str, method: str
) -> None:
    raw = to.encode(errors="surrogatepass").replace(b"\r", b"").replace(b"\n", b"")

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/first":
            return httpx.Response(307, headers=[(b"location", raw)])
        return httpx.Response(200, json={})

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        time = HandTime()
        pace = Pace(time=time.time)
        rest = Rest(client, api_url="http://127.0.0.1", token="made-up", pace=pace)
        told: object = None
        try:
            told = await rest.write(method, "/first")
        except (Unavailable, Refused) as error:
            told = str(error)
        assert told == {} or str(told).startswith(f"{method} /first: ")
