"""The loop pushes no faster than the forge wants, and waits before it plans."""

import asyncio
from itertools import pairwise
from pathlib import Path

from bot.door.inbox import Remark
from bot.loop.loop import Loop
from bot.loop.pushing import ASKED_GAP_S, MINUTE_S
from bot.serving import bot_service
from brat.forge.http_server import serving
from brat.forge.resources.forge_records import Ci
from brat.forge.storage.forge_state import Forge
from brat.local import local_mode
from brat.repository import registration as registrations
from brat.repository.registration import FORGE_FOLDER, Source
from tests.bot.room import room
from tests.world.forge import make_source
from tests.world.trusting_jobs import trusting_jobs

GAP_S = 1000.0
MINUTE_PUSHES = 6
COMMENTS = 12


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

    with trusting_jobs(tmp_path), Forge(tmp_path / FORGE_FOLDER) as forge:
        async with serving(forge) as url:
            settings = local_mode.bot_settings(tmp_path, known, url)
            paced = settings.model_copy(update={"push_gap_s": GAP_S})
            async with bot_service.opened(paced, lambda _: None) as loop:
                assert isinstance(loop, Loop)
                loop.pacing.pause = pause
                await loop.tick()

    assert waited
    assert all(0 < seconds <= GAP_S for seconds in waited)


async def test_nobody_can_make_the_bot_push_at_will(tmp_path: Path) -> None:
    async with room(tmp_path, roles=("mayor",)) as here:
        loop, lease, now = here.loop, here.loop.lease, [here.loop.lease.ticking()]
        lease.ticking = lambda: now[0]
        paced = {"push_gap_s": 20.0}
        loop.context.settings = loop.context.settings.model_copy(update=paced)
        await here.loop.release()
        pushed_at: list[float] = []

        async def pause(seconds: float) -> None:
            pushed_at.append(now[0] - lease.age_s)
            begun = now[0]
            now[0] += min(seconds, 0.5)
            if len(pushed_at) <= COMMENTS:
                comment = await here.person.say(here.issue, "/brat ping")
                remark = Remark(
                    issue=here.issue,
                    comment=comment,
                    text="/brat ping",
                    by="you",
                    on_pull=False,
                )
                loop.context.inbox.put(f"delivery-{comment}", remark)
                loop.wake.keep()
            for _ in range(10):
                await asyncio.sleep(0)  # what may be interrupted ends here
            now[0] = begun + seconds

        loop.pacing.pause = pause
        await here.said("/brat ping")

        gaps = [later - earlier for earlier, later in pairwise(pushed_at)]
        assert len(pushed_at) > COMMENTS
        assert min(gap for gap in gaps if gap) < 20
        assert all(gap >= ASKED_GAP_S - 0.001 for gap in gaps if gap)
        pushes = sorted({*pushed_at})
        for at in pushes:
            assert sum(at <= one < at + MINUTE_S for one in pushes) <= MINUTE_PUSHES
