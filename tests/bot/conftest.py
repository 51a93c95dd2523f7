"""A client of a forge that only answers what a test says."""

from collections.abc import AsyncIterator

import httpx
import pytest
import respx
from tenacity import wait_none

from bot.github import GitHub
from bot.rest import Rest

API = "https://api.example.org"
TOKEN = "made-up-token"


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(trust_env=False) as client:
        yield client


@pytest.fixture
def rest(client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> Rest:
    """Give the calls, with retries that do not wait."""
    for name in ("get", "_page", "download"):
        monkeypatch.setattr(getattr(Rest, name).retry, "wait", wait_none())
    return Rest(client, api_url=API, token=TOKEN)


@pytest.fixture
def github(client: httpx.AsyncClient, rest: Rest) -> GitHub:
    return GitHub(client, api_url=API, repository="octo/project", token=TOKEN)


@pytest.fixture
def forge(respx_mock: respx.MockRouter) -> respx.MockRouter:
    """Give the forge; each route that a test names must be asked."""
    return respx_mock
