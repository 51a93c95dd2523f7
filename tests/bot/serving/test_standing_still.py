"""A repository of which nothing moves is named, and the others are served."""

from pathlib import Path

import httpx
import pytest

from bot.loop.loop import PATIENCE_S
from bot.serving.host import Host, hosted
from brat.demo import BotProcess
from brat.local import forge_process, local_mode
from brat.repository import registration as registrations
from brat.repository.registration import FORGE_FOLDER
from grite.errors import Unavailable
from tests.bot.room import room
from tests.bot.serving.hosted_town import OTHER, hosting, labelled
from tests.whole.crash import set_up
from tests.world.forge import REPO, Town, until
from tests.world.forge_rules import put_hook
from tests.world.patience import patient

REFUSING = 'case "$1" in refs/grite/*) echo "not here" >&2; exit 1;; esac'
pytestmark = [pytest.mark.timeout(180), pytest.mark.layer("landing")]


def refusing_the_log(here: Town, name: str) -> None:
    put_hook(here.forge.bare(here.forge.known(name)).path, "update", REFUSING)


async def ready(bot: Host | BotProcess, status: int, words: str) -> httpx.Response:
    """Wait until this is answered to who asks whether it is ready."""
    async with httpx.AsyncClient(trust_env=False, timeout=patient(20)) as client:

        async def asked() -> httpx.Response | None:
            answer = await client.get(f"http://127.0.0.1:{bot.port}/readyz")
            meant = answer.status_code == status and words in answer.text
            return answer if meant else None

        answer: httpx.Response = await until(asked)
    return answer


async def test_a_repository_whose_log_is_refused_is_named_and_all_make_it_unready(
    here: Town,
) -> None:
    refusing_the_log(here, REPO)
    async with hosted(hosting(here, sweep_s=0.2), lambda _: None) as host:
        answer = await ready(host, 200, "is stuck")
        (trouble,) = answer.json()["troubles"]
        assert trouble.startswith(f"{REPO} is stuck: the forge refuses the log")
        still = 'brat_repository_standing_still{repository="%s"} %s'
        assert still % (REPO, "1.0") in host.metrics.text().decode()
        assert still % (OTHER, "0.0") in host.metrics.text().decode()

        refusing_the_log(here, OTHER)
        await labelled(here, OTHER)
        await ready(host, 503, "refuses the log")


async def test_the_bot_of_one_repository_is_unready(tmp_path: Path) -> None:
    known = set_up(tmp_path)
    put_hook(registrations.bare_path(tmp_path, known), "update", REFUSING)
    folder, log = tmp_path / FORGE_FOLDER, tmp_path / "forge.log"
    with forge_process.forge(folder, 0, log=log) as (url, _):
        bot = BotProcess(tmp_path, known, url)
        bot.start()
        try:
            async with local_mode.person(url, known) as github:
                issue = await github.open_issue("Do it", "- [ ] one")
                await github.relabel(issue, {"brat"}, set())
            await ready(bot, 503, "the log")
        finally:
            bot.stop()


async def test_ticks_that_are_cut_short_are_a_standstill_after_two_minutes(
    tmp_path: Path,
) -> None:
    async with room(tmp_path, roles=("mayor",)) as here:
        now, loop = [0], here.loop
        clock, loop.context.clock = loop.context.clock, lambda: now[0]
        assert loop.standstill == ""
        for _ in range(2):
            loop.cut_short("tick", Unavailable("nobody answers"))
            assert loop.standstill == ""
            now[0] += int(PATIENCE_S) * 500
        now[0] += 1
        assert "over two minutes: nobody answers" in loop.standstill
        loop.context.clock = clock
        await loop.tick()
        assert loop.standstill == ""
