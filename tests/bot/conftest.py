"""A forge that only answers what a test says, and a remote with mirrors of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import respx

from bot.forge.github import GitHub
from bot.forge.pace import Pace
from bot.forge.rest import Rest
from bot.repository.mirror import Mirror
from brat.forge import Forge
from tests.bot.history import History
from tests.bot.lobby import Lobby, lobby
from tests.bot.logs import Open
from tests.world.forge import Town, make_source, settle_in, town
from tests.world.given_secrets import given
from tests.world.hand import HandTime
from tests.world.log_keys import open_mirror
from tests.world.patience import patient

API = "https://api.example.org"
TOKEN = given("made-up-token")


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(trust_env=False, timeout=patient(20)) as client:
        yield client


@pytest.fixture
def hand() -> HandTime:
    return HandTime()


@pytest.fixture
def pace(hand: HandTime) -> Pace:
    """Give turns whose waits cost no time."""
    return Pace(time=hand.time)


@pytest.fixture
def rest(client: httpx.AsyncClient, pace: Pace) -> Rest:
    return Rest(client, api_url=API, token=TOKEN, pace=pace)


@pytest.fixture
def github(client: httpx.AsyncClient, pace: Pace) -> GitHub:
    return GitHub(
        client, api_url=API, repository="octo/project", token=TOKEN, pace=pace
    )


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncIterator[Lobby]:
    """Give a bot that has heard nothing yet."""
    async with lobby(tmp_path) as inside:
        yield inside


@pytest.fixture
def forge(respx_mock: respx.MockRouter) -> respx.MockRouter:
    """Give the forge; each route that a test names must be asked."""
    return respx_mock


@pytest.fixture
def origin(tmp_path: Path) -> History:
    return History(tmp_path / "origin.git")


@pytest.fixture
def opened(tmp_path: Path, origin: History) -> Open:
    def opened(name: str) -> Mirror:
        return open_mirror(tmp_path / f"{name}.git", origin.path.as_uri(), None)

    return opened


@pytest.fixture
def mirror(opened: Open) -> Mirror:
    return opened("mirror")


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Town]:
    with Forge(tmp_path / "forge") as forge:
        tokens = settle_in(forge, make_source(tmp_path / "source"))
        async with town(forge, tokens, tmp_path) as served:
            yield served
