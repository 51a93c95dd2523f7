"""A served forge for each test."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from brat.forge import Forge
from tests.world.forge import Town, make_source, settle_in, town


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
