"""The loop pushes no faster than the forge wants, and waits before it plans."""

from pathlib import Path

from bot.loop import Loop
from bot.serving import service
from brat import local, registration as registrations
from brat.forge.records import Ci
from brat.forge.server import serving
from brat.forge.state import Forge
from brat.registration import FORGE_FOLDER, Source
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
            settings = local.bot_settings(tmp_path, known, url)
            paced = settings.model_copy(update={"push_gap_s": GAP_S})
            async with service.opened(paced, lambda _: None) as loop:
                assert isinstance(loop, Loop)
                loop.pause = pause
                await loop.tick()

    assert waited
    assert all(0 < seconds <= GAP_S for seconds in waited)
