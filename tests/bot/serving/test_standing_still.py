"""A repository of which nothing moves is named, and the others are served."""

from pathlib import Path

import httpx
import pytest

from bot.serving.bot_service import PATIENCE_MS, Standstill
from bot.serving.host import Host, hosted
from brat.demo.demo_run import BotProcess
from brat.local import forge_process, local_mode
from brat.repository import registration as registrations
from brat.repository.registration import FORGE_FOLDER
from grite.errors import Unavailable
from tests.bot.room import room
from tests.bot.serving.hosted_town import OTHER, hosting
from tests.whole.crash import set_up
from tests.world.forge import REPO, Town, until
from tests.world.forge_rules import put_hook
from tests.world.patience import patient

REFUSING = 'case "$1" in refs/grite/*) echo "not here" >&2; exit 1;; esac'
pytestmark = [pytest.mark.timeout(180), pytest.mark.layer("landing")]


def refusing_the_log(here: Town, name: str) -> None:
    put_hook(here.forge.bare(here.forge.known(name)).path, "update", REFUSING)


async def ready(host: Host) -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False, timeout=patient(20)) as client:
        return await client.get(f"http://127.0.0.1:{host.port}/readyz")


async def test_a_repository_whose_log_is_refused_is_named(
    here: Town,
) -> None:
    refusing_the_log(here, REPO)
    told = hosting(here, sweep_s=0.2)
    async with hosted(told, lambda _: None) as host:

        async def named() -> bool:
            return "is stuck" in (await ready(host)).text

        await until(named)
        answer = await ready(host)
        assert answer.status_code == 200, answer.text
        (trouble,) = answer.json()["troubles"]
        assert trouble.startswith(f"{REPO} is stuck: the forge refuses the log")
        still = 'brat_repository_standing_still{repository="%s"} %s'
        assert still % (REPO, "1.0") in host.metrics.text().decode()
        assert still % (OTHER, "0.0") in host.metrics.text().decode()


async def test_all_that_stand_still_make_the_bot_unready(here: Town) -> None:
    refusing_the_log(here, REPO)
    told = hosting(here, sweep_s=0.2, repositories=(REPO,))
    async with hosted(told, lambda _: None) as host:

        async def unready() -> bool:
            answer = await ready(host)
            return answer.status_code == 503 and "refuses the log" in answer.text

        await until(unready)


async def test_the_bot_of_one_repository_is_unready(tmp_path: Path) -> None:
    known = set_up(tmp_path)
    put_hook(registrations.bare_path(tmp_path, known), "update", REFUSING)
    folder, log = tmp_path / FORGE_FOLDER, tmp_path / "forge.log"
    with forge_process.forge(folder, 0, log=log) as (url, _):
        bot = BotProcess(tmp_path, known, url)
        bot.start()
        try:
            async with httpx.AsyncClient(
                trust_env=False, timeout=patient(20)
            ) as client:

                async def unready() -> bool:
                    answer = await client.get(f"http://127.0.0.1:{bot.port}/readyz")
                    return answer.status_code == 503 and "the log" in answer.text

                async with local_mode.person(url, known) as github:
                    issue = await github.open_issue("Do it", "- [ ] one")
                    await github.relabel(issue, {"brat"}, set())
                await until(unready)
        finally:
            bot.stop()


async def test_ticks_that_are_cut_short_are_a_standstill_after_two_minutes(
    tmp_path: Path,
) -> None:
    async with room(tmp_path, roles=("mayor",)) as here:
        now, loop = [0], here.loop
        standstill = Standstill(clock=lambda: now[0])
        standstill.seen(loop)
        assert standstill.why(loop, "") == ""
        loop.cut_by = Unavailable("nobody answers")
        for _ in range(2):
            standstill.seen(loop)
            assert standstill.why(loop, "") == ""
            now[0] += PATIENCE_MS // 2
        now[0] += 1
        assert "over two minutes: nobody answers" in standstill.why(loop, "")
        await loop.tick()
        standstill.seen(loop)
        assert standstill.why(loop, "") == ""
        assert standstill.why(None, "no key") == "its loop cannot run: no key"
