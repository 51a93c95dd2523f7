"""A served forge for each test."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from brat.forge.http_server import serving
from brat.forge.storage.forge_state import Forge
from tests.world.forge import DEADLINE_S, Town, make_source, settle_in, town


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return make_source(tmp_path / "source")


@pytest.fixture
def forge(tmp_path: Path) -> Iterator[Forge]:
    with Forge(tmp_path / "forge") as forge:
        yield forge


@pytest.fixture
async def here(forge: Forge, source: Path, tmp_path: Path) -> AsyncIterator[Town]:
    tokens = settle_in(forge, source)
    async with town(forge, tokens, tmp_path) as served:
        yield served


@pytest.fixture
async def plain(forge: Forge, source: Path, tmp_path: Path) -> AsyncIterator[Town]:
    """Serve the forge as it is in local mode, without the tests' GitHub."""
    tokens = settle_in(forge, source)
    async with (
        serving(forge) as url,
        httpx.AsyncClient(trust_env=False, timeout=DEADLINE_S) as http,
    ):
        yield Town(forge, url, tokens, http, tmp_path)
