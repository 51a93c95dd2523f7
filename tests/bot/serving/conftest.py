"""A town with two repositories in which the bot may write."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.bot.hosted import at_home
from tests.bot.serving.hosted_town import OTHER
from tests.world.forge import Town


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Town]:
    async with at_home(tmp_path) as served:
        served.forge.add_repository(OTHER, source=tmp_path / "source")
        served.forge.grant(OTHER, "brat[bot]", "write")
        yield served
