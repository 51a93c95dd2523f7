"""Addresses that a forge names and nobody can go to."""

import httpx
import pytest
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
