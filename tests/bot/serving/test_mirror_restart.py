"""A service whose mirror has grown leaves it, collects it, and goes on."""

import pytest

from bot.repository import mirror
from bot.serving.host import hosted
from tests.bot.serving.hosted_town import accepted, hosting, labelled
from tests.world.forge import REPO, Town, until
from tests.world.patience import patient

pytestmark = pytest.mark.timeout(180)


async def test_a_mirror_that_has_grown_is_collected_while_the_service_runs(
    here: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror, "FLOOR_BYTES", 1)
    monkeypatch.setattr(mirror, "EVERY_S", 0.0)
    lines: list[str] = []
    async with hosted(hosting(here, sweep_s=0.2), lines.append):

        async def told() -> bool:
            return any("its mirror has grown" in line for line in lines)

        await until(told, deadline_s=patient(60))
        monkeypatch.undo()

        await accepted(here, REPO, await labelled(here, REPO))
