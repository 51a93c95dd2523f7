from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.feed.hall import JOB, Hall, hall, running
from tests.world.issuer import Vouching, vouching


@pytest.fixture
async def github() -> AsyncIterator[Vouching]:
    async with vouching(**JOB) as served:
        yield served


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Hall]:
    async with hall(tmp_path, running()) as served:
        yield served
