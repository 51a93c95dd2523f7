"""A town with two repositories in which the bot may write."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from brat.forge import Forge
from tests.bot.serving.hosted_town import OTHER
from tests.world.forge import Town, make_source, settle_in, town


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Town]:
    with Forge(tmp_path / "forge") as forge:
        source = make_source(tmp_path / "source")
        tokens = settle_in(forge, source)
        forge.add_repository(OTHER, source=source)
        forge.grant(OTHER, "brat[bot]", "write")
        async with town(forge, tokens, tmp_path) as served:
            yield served
