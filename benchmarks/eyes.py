"""How soon a command is acknowledged: beside fifty sessions, and with nothing to do.

Forge and bot are served in this process, the sessions are processes as ever, and the
bot's pushes are 20 s apart. The clock runs from the comment's arrival on the forge, so
its delivery counts too, to the arrival of the reaction.
"""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import quantiles

from benchmarks.bare_loop import call
from benchmarks.fleet import Load, project
from bot.forge.github import GitHub
from bot.loop.loop import Loop
from bot.serving import bot_service
from brat.forge.http_server import serving
from brat.forge.resources.forge_records import Ci
from brat.forge.storage.forge_state import Forge
from brat.local import local_mode
from brat.repository import registration as registrations
from brat.repository.registration import FORGE_FOLDER, Source
from tests.world.traffic import Exchange, observed

SESSIONS, COMMENTS = 50, 40
SESSION_S, PUSH_GAP_S, APART_S = 150, 20.0, 0.5
STARTED_S, SEEN_S = 400.0, 60.0


class Times:
    """When comments and reactions arrived on the forge."""

    def __init__(self) -> None:
        """Know of none."""
        self.commented: dict[int, float] = {}
        self.reacted: dict[int, float] = {}

    def __call__(self, exchange: Exchange) -> None:
        """Note an exchange of the forge's."""
        if exchange.method != "POST":
            return
        *_, number, what = exchange.path.split("/")
        if what == "comments":
            self.commented[exchange.response["id"]] = time.perf_counter()
        elif what == "reactions":
            self.reacted.setdefault(int(number), time.perf_counter())

    def took_ms(self, comments: list[int]) -> dict[str, float]:
        """Return how long the reactions to these comments took."""
        took = [(self.reacted[one] - self.commented[one]) * 1000 for one in comments]
        cuts = quantiles(took, n=20)
        return {
            "p50": round(cuts[9], 1),
            "p95": round(cuts[18], 1),
            "most": round(max(took), 1),
        }


def eyes(folder: Path, _: int) -> dict[str, object]:
    """Time forty commands to an idle bot, then forty beside fifty sessions."""
    load = Load(seconds=[SESSION_S] * SESSIONS, slots=SESSIONS)
    source = project(folder / "source", load)
    with (source / ".brat/config.toml").open("a") as file:
        file.write(f"[witness]\nmax_sessions = {SESSIONS}\n")
    call("git", "commit", "-qam", "Allow as many sessions", cwd=source)
    return asyncio.run(_timed(folder / "brat", source, load))


async def _timed(folder: Path, source: Path, load: Load) -> dict[str, object]:
    known = registrations.register(
        folder, Source(path=source, branch="main", name="project", person="you")
    )
    registrations.set_ci(folder, known, Ci(command=load.ci))
    times = Times()
    with Forge(folder / FORGE_FOLDER) as forge:
        async with (
            serving(forge, extend=observed(times)) as url,
            local_mode.person(url, known) as person,
        ):
            settings = local_mode.bot_settings(folder, known, url).model_copy(
                update={"push_gap_s": PUSH_GAP_S}
            )
            async with (
                bot_service.opened(settings, lambda _: None) as loop,
                bot_service.door(loop, 0) as port,
                asyncio.TaskGroup() as group,
            ):
                await local_mode.point_hook(url, known, port)
                ticking = group.create_task(bot_service.forever(loop))
                idle = await _commented(person, times)
                items = "\n".join(f"- [ ] Do {n}" for n in range(1, SESSIONS + 1))
                issue = await person.open_issue("Do it all", items)
                await person.relabel(issue, {"brat"}, set())
                await _until(lambda: _running(loop) == SESSIONS, STARTED_S)
                busy = await _commented(person, times)
                running = _running(loop)
                ticking.cancel()
    return {
        "sessions": running,
        "push_gap_s": PUSH_GAP_S,
        "commands": COMMENTS,
        "idle_ms": times.took_ms(idle),
        "busy_ms": times.took_ms(busy),
        "busy_p95_ms_aim": 2000,
        "load": os.getloadavg()[0],
    }


async def _commented(person: GitHub, times: Times) -> list[int]:
    """Comment, and wait until all was reacted to."""
    issue, said = await person.open_issue("Talk", "Of this and that."), []
    for _ in range(COMMENTS):
        said.append(await person.say(issue, "/brat ping"))
        await asyncio.sleep(APART_S)
    await _until(lambda: times.reacted.keys() >= {*said}, SEEN_S)
    return said


def _running(loop: Loop) -> int:
    running = loop.context.mirror.state.running()
    return sum(1 for _, task in running if task.attempt and task.attempt.run)


async def _until(condition: Callable[[], bool], seconds: float) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110  asks in its own process
            await asyncio.sleep(0.1)
