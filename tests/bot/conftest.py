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
from tests.bot.history import History
from tests.bot.hosted import at_home
from tests.bot.logs import Open
from tests.bot.room import Room, empty_room, room
from tests.world.forge import Town
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
async def hall(tmp_path: Path) -> AsyncIterator[Room]:
    """Give a bot that has heard nothing yet."""
    async with empty_room(tmp_path) as inside:
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
async def town(tmp_path: Path) -> AsyncIterator[Town]:
    async with at_home(tmp_path) as served:
        yield served


@pytest.fixture
def delivered() -> bool:
    return False


@pytest.fixture
async def here(
    request: pytest.FixtureRequest, tmp_path: Path, *, delivered: bool
) -> AsyncIterator[Room]:
    """Give the room that the nearest mark `room` tells of; a mark of none: as it is."""
    mark = request.node.get_closest_marker("room") or pytest.mark.room().mark
    async with room(
        tmp_path, *mark.args, **{"delivered": delivered, **mark.kwargs}
    ) as opened:
        yield opened
