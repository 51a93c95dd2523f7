"""Downloads: repeated from the start, and storage never sees the token."""

import httpx
import pytest
import respx

from bot.forge.rest import Refused, Rest
from grite.errors import Unavailable

API = "https://api.example.org"
ZIP = f"{API}/artifacts/9/zip"
STORAGE = "https://storage.example.com/9?sig=abc"


async def test_storage_never_sees_the_token(
    rest: Rest, forge: respx.MockRouter
) -> None:
    asked = forge.get(ZIP).respond(302, headers={"location": STORAGE})
    stored = forge.get(STORAGE).respond(content=b"PK")

    assert await rest.download("/artifacts/9/zip") == b"PK"
    assert "made-up-token" in asked.calls.last.request.headers["authorization"]
    assert "made-up-token" not in str(stored.calls.last.request.headers.raw)


async def test_bytes_may_come_without_a_detour(
    rest: Rest, forge: respx.MockRouter
) -> None:
    forge.get(ZIP).respond(content=b"PK")

    assert await rest.download("/artifacts/9/zip") == b"PK"


async def test_a_detour_may_be_on_the_same_host(
    rest: Rest, forge: respx.MockRouter
) -> None:
    forge.get(ZIP).respond(302, headers={"location": "/stored/9"})
    stored = forge.get(f"{API}/stored/9").respond(content=b"PK")

    assert await rest.download("/artifacts/9/zip") == b"PK"
    assert "made-up-token" not in str(stored.calls.last.request.headers.raw)


async def test_a_repository_that_was_renamed_still_has_its_artifacts(
    rest: Rest, forge: respx.MockRouter
) -> None:
    forge.get(ZIP).respond(301, headers={"location": f"{API}/repositories/1/zip"})
    moved = forge.get(f"{API}/repositories/1/zip")
    moved.respond(302, headers={"location": STORAGE})
    stored = forge.get(STORAGE).respond(content=b"PK")

    assert await rest.download("/artifacts/9/zip") == b"PK"
    assert "made-up-token" in str(moved.calls.last.request.headers.raw)
    assert "made-up-token" not in str(stored.calls.last.request.headers.raw)


@pytest.mark.parametrize(
    "outage",
    [httpx.Response(503), httpx.Response(429), httpx.ReadError("cut off")],
    ids=repr,
)
async def test_a_download_is_repeated_from_the_start(
    outage: httpx.Response | Exception, rest: Rest, forge: respx.MockRouter
) -> None:
    asked = forge.get(ZIP).respond(302, headers={"location": STORAGE})
    stored = forge.get(STORAGE)
    stored.side_effect = [outage, httpx.Response(200, content=b"PK")]

    assert await rest.download("/artifacts/9/zip") == b"PK"
    assert asked.call_count == 2


@pytest.mark.parametrize("status", [302, 403, 404, 410])
async def test_what_is_gone_is_refused(
    status: int, rest: Rest, forge: respx.MockRouter
) -> None:
    route = forge.get(ZIP).respond(status, text="gone")

    with pytest.raises(Refused, match=f"{status}: gone"):
        await rest.download("/artifacts/9/zip")

    assert route.call_count == 1


async def test_a_detour_to_nowhere_is_a_broken_forge(
    rest: Rest, forge: respx.MockRouter
) -> None:
    forge.get(ZIP).respond(302, headers={"location": "https://storage:no-port/9"})

    with pytest.raises(Unavailable, match="GET /artifacts/9/zip"):
        await rest.download("/artifacts/9/zip")
