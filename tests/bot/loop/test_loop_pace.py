"""The loop pushes no faster than the forge wants, and waits before it plans."""

from pathlib import Path

from bot.loop.loop import Loop
from bot.serving import bot_service
from brat.forge.http_server import serving
from brat.forge.resources.repository_resource import Ci
from brat.forge.storage.forge_state import Forge
from brat.local import local_mode
from brat.repository import registration as registrations
from brat.repository.registration import FORGE_FOLDER, Source
from tests.world.forge import make_source

GAP_S = 1000.0


async def test_two_pushes_are_apart_and_what_happens_meanwhile_shares_one(
    tmp_path: Path,
) -> None:
    source = make_source(tmp_path / "source")
    known = registrations.register(
        tmp_path, Source(path=source, branch="main", name="app", person="you")
    )
    registrations.set_ci(tmp_path, known, Ci())
    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)

    with Forge(tmp_path / FORGE_FOLDER) as forge:
        async with serving(forge) as url:
            settings = local_mode.bot_settings(tmp_path, known, url)
            paced = settings.model_copy(update={"push_gap_s": GAP_S})
            async with bot_service.opened(paced, lambda _: None) as loop:
                assert isinstance(loop, Loop)
                loop.pause = pause
                await loop.tick()

    assert waited
    assert all(0 < seconds <= GAP_S for seconds in waited)
