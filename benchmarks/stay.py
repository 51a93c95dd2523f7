"""A loop's job that stays on GitHub's runners: how soon it answers, at what price.

Four tasks that end a minute apart, no webhook: the job polls the tests' GitHub with
the pace, the gap between pushes and the token that a job has there. Its time is over
after 50 s instead of 25 minutes, and every third job is killed, so that many hand over.
"""

import asyncio
import os
import time
from http import HTTPStatus
from pathlib import Path
from statistics import quantiles
from typing import Final

from benchmarks.bare_loop import call
from benchmarks.fleet import Load, project
from bot import oneshot
from bot.forge.github import GitHub
from bot.serving import bot_service
from bot.settings.bot_settings import Settings
from bot.settings.oneshot_settings import loops_actor
from brat.forge.http_server import serving
from brat.forge.resources.forge_records import Access, Ci
from brat.forge.resources.wire import iso
from brat.forge.storage.forge_state import Forge
from brat.local import local_mode
from brat.repository import registration as registrations
from brat.repository.log_reader import Reader
from brat.repository.registration import BOT, FORGE_FOLDER, Registration, Source
from convoy.model.state import Convoy
from tests.world.github_forge import extension
from tests.world.github_forge.workflow_runs import TOKEN_LASTS
from tests.world.traffic import Exchange, observed
from tests.world.trusting_jobs import trusting_jobs

TASKS, COMMENTS, APART_S, JOB_S = 4, 12, 15.0, 50.0
LOOK_S, LATE_S, DEADLINE_S = 0.1, 60.0, 400.0
MAY: Final = tuple(
    (name, "write")
    for name in ("actions", "checks", "contents", "issues", "pull_requests")
)


class Seen:
    """When comments were left and answered, and how many requests there were."""

    def __init__(self) -> None:
        """Know of none."""
        self.counted = self.free = 0
        self.said: dict[int, float] = {}
        self.heard: dict[int, list[float]] = {}

    def __call__(self, exchange: Exchange) -> None:
        """Note an exchange of the forge's."""
        self.free += exchange.status == HTTPStatus.NOT_MODIFIED
        self.counted += exchange.status != HTTPStatus.NOT_MODIFIED
        if exchange.method != "POST":
            return
        *_, number, what = exchange.path.split("/")
        if what == "comments" and exchange.request and "/brat" in str(exchange.request):
            self.said[exchange.response["id"]] = time.perf_counter()
        elif what == "reactions":
            self.heard.setdefault(int(number), []).append(time.perf_counter())


def stay(folder: Path, _: int) -> dict[str, object]:
    """Return the delays in seconds and the requests an hour."""
    load = Load(seconds=[20.0 + 60 * n for n in range(TASKS)], slots=TASKS)
    source = project(folder / "source", load)
    with (source / ".brat/config.toml").open("a") as file:
        file.write("[actions]\nstay = true\n")
    call("git", "commit", "-qam", "Let the job stay", cwd=source)
    return asyncio.run(_timed(folder / "brat", source, load))


async def _timed(folder: Path, source: Path, load: Load) -> dict[str, object]:
    known = registrations.register(
        folder, Source(path=source, branch="main", name="project", person="you")
    )
    registrations.set_ci(folder, known, Ci(command=load.ci))
    seen, oneshot.LIMIT_S = Seen(), JOB_S  # type: ignore[misc]
    with trusting_jobs(folder), Forge(folder / FORGE_FOLDER) as forge:
        async with (
            serving(forge, extend=observed(seen, extension.github)) as url,
            local_mode.person(url, known) as person,
            asyncio.TaskGroup() as group,
        ):
            settings = local_mode.bot_settings(folder, known, url).model_copy(
                update={
                    "sole": False,
                    "token": _job_token(forge, known),
                    "push_gap_s": 20.0,
                    "write_gap_s": 1.0,
                }
            )
            items = "\n".join(f"- [ ] Do {n}" for n in range(1, TASKS + 1))
            issue = await person.open_issue("Do it all", items)
            await person.relabel(issue, {"brat"}, set())
            begun = time.perf_counter()
            starts: list[float] = []
            jobs = group.create_task(_jobs(settings, starts))
            talk = group.create_task(_talk(person, issue))
            convoy, landings = await _landings(forge, known)
            await talk
            late = time.perf_counter() + LATE_S
            while seen.said.keys() - seen.heard.keys() and time.perf_counter() < late:  # noqa: ASYNC110  other tasks
                await asyncio.sleep(LOOK_S)
            jobs.cancel()
    took_s = time.perf_counter() - begun
    heard = seen.said.keys() & seen.heard.keys()
    answers = [seen.heard[one][0] - seen.said[one] for one in heard]
    return {
        "convoy": convoy.state,
        "tasks_started_once": all(task.started == 1 for task in convoy.tasks),
        "unanswered": len(seen.said) - len(heard),
        "answered_twice": sum(len(times) > 1 for times in seen.heard.values()),
        "comment_to_answer_s": _cuts(answers),
        "session_end_to_landing_s": _cuts(landings),
        "p95_aim_s": 10,
        "counted_requests": seen.counted,
        "answered_not_modified": seen.free,
        "took_s": round(took_s),
        "jobs": len(starts),
        "load": os.getloadavg()[0],
    }


def _job_token(forge: Forge, known: Registration) -> str:
    repo = forge.known(known.repository)
    bot = forge.user(BOT)
    assert bot is not None
    access = Access(
        repos=(repo.id,), permissions=MAY, expires_at=iso(forge.clock() + TOKEN_LASTS)
    )
    return forge.keys.add(bot, repo=repo.id, access=access)


async def _jobs(settings: Settings, starts: list[float]) -> None:
    """Run one job after another; every third is killed in the middle."""
    settings.folder.mkdir(parents=True, exist_ok=True)
    (settings.folder / "actor").write_text(loops_actor(settings.repository))
    while True:
        starts.append(time.perf_counter())
        async with bot_service.opened(settings, lambda _: None) as loop:
            once = oneshot.run_once(loop, after=None, ci_wait_s=600)
            try:
                async with asyncio.timeout(JOB_S / 2 if len(starts) % 3 == 0 else None):
                    if not (await once).again:
                        await asyncio.sleep(APART_S)  # until an event wakes the next
            except TimeoutError:
                pass  # as by a lost machine: nothing is released or handed over


async def _talk(person: GitHub, issue: int) -> None:
    for _ in range(COMMENTS):
        await asyncio.sleep(APART_S)
        await person.say(issue, "/brat ping")


async def _landings(forge: Forge, known: Registration) -> tuple[Convoy, list[float]]:
    """Return the convoy at its end, and how long each landing took from its session."""
    ended: dict[int, float] = {}
    landed: dict[int, float] = {}
    runs: dict[int, int] = {}
    reader = Reader(registrations.bare_path(forge.folder.parent, known))
    async with asyncio.timeout(DEADLINE_S):
        while True:
            for run in forge.store.runs.all():
                if run.status == "completed":
                    ended.setdefault(run.id, time.perf_counter())
            for convoy in (await asyncio.to_thread(reader.read)).convoys.values():
                for task in convoy.tasks:
                    if task.attempt is not None and task.attempt.run:
                        runs[task.number] = task.attempt.run
                    if task.state == "merged" and task.number not in landed:
                        landed[task.number] = time.perf_counter()
                if convoy.ended:
                    took = [at - ended.get(runs[n], at) for n, at in landed.items()]
                    return convoy, took
            await asyncio.sleep(LOOK_S)


def _cuts(took: list[float]) -> dict[str, float]:
    cuts = quantiles(took, n=20)
    return {
        "p50": round(cuts[9], 1),
        "p95": round(cuts[18], 1),
        "most": round(max(took), 1),
    }
