"""A loop's job that stays on GitHub's runners: how soon it answers, at what price.

Four tasks that end a minute apart, a comment every 15 s, no webhook: the job polls the
tests' GitHub with the pace, the limits and the token that a job has there. Its time is
over after 50 s instead of 25 minutes, so that many hand over; then the same with every
third job killed after as long, whose lease the next one has to wait for.
"""

import asyncio
import os
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from statistics import quantiles
from typing import Final

from aiohttp import web

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
from brat.forge.rest.rest_call import Extension
from brat.forge.service.running_forge import Service
from brat.forge.storage.forge_state import Forge
from brat.local import local_mode
from brat.repository import registration as registrations
from brat.repository.log_reader import Reader
from brat.repository.registration import BOT, FORGE_FOLDER, Registration, Source
from convoy.model.ids import keys_in
from convoy.model.state import Convoy
from tests.world.github_forge import extension as extension_of
from tests.world.github_forge.workflow_runs import TOKEN_LASTS
from tests.world.traffic import Exchange, observed
from tests.world.trusting_jobs import trusting_jobs

TASKS, COMMENTS, APART_S, JOB_S, QUIET_S = 4, 12, 15.0, 50.0, 30.0
BEGINS_S, LOOK_S, LATE_S, DEADLINE_S, MINUTE_S = 12.0, 0.1, 90.0, 480.0, 60.0
MAY: Final = tuple(
    (name, "write")
    for name in ("actions", "checks", "contents", "issues", "pull_requests")
)
Figures = dict[str, object]


class Seen:
    """When comments were left and answered, and how many requests there were."""

    def __init__(self) -> None:
        """Know of none."""
        self.counted = self.free = 0
        self.said: dict[int, float] = {}
        self.heard: dict[int, list[str]] = {}
        self.answered: dict[int, float] = {}
        self.shown: dict[int, float] = {}
        self.pushed: list[float] = []

    def __call__(self, exchange: Exchange) -> None:
        """Note an exchange of the forge's."""
        self.free += exchange.status == HTTPStatus.NOT_MODIFIED
        self.counted += exchange.status != HTTPStatus.NOT_MODIFIED
        *_, number, what = exchange.path.split("/")
        now, sent = time.perf_counter(), exchange.request
        if exchange.method == "POST" and what == "comments" and "/brat" in str(sent):
            self.said[exchange.response["id"]] = now
        elif exchange.method == "POST" and what == "reactions":
            if sent["content"] != "eyes" and exchange.status == HTTPStatus.CREATED:
                self.heard.setdefault(int(number), []).append(sent["content"])
                self.answered.setdefault(int(number), now)
        elif exchange.method == "PATCH" and number == "comments":
            for found in re.findall(r"issuecomment-(\d+)", sent["body"]):
                self.shown.setdefault(int(found), now)

    def extend(self, service: Service) -> Extension:
        """Return the tests' GitHub, whose requests and pushes are noted."""
        extension = observed(self, extension_of.github)(service)
        watchers = (self._pushes, *extension.middlewares)
        return replace(extension, middlewares=watchers)

    @web.middleware
    async def _pushes(
        self,
        request: web.Request,
        handler: Callable[[web.Request], Awaitable[web.StreamResponse]],
    ) -> web.StreamResponse:
        if request.method == "POST" and request.path.endswith("/git-receive-pack"):
            self.pushed.append(time.perf_counter())
        return await handler(request)


def stay(folder: Path, _: int) -> Figures:
    """Return the delays in seconds, requests and pushes; then with jobs killed."""
    load = Load(
        seconds=[QUIET_S + BEGINS_S + 20.0 + 60 * n for n in range(TASKS)], slots=TASKS
    )
    source = project(folder / "source", load)
    with (source / ".brat/config.toml").open("a") as file:
        file.write("[actions]\nstay = true\n")
    call("git", "commit", "-qam", "Let the job stay", cwd=source)
    return {
        name: asyncio.run(_timed(folder / name, source, load, killed))
        for name, killed in (("handed_over", False), ("every_third_killed", True))
    }


async def _timed(folder: Path, source: Path, load: Load, killed: bool) -> Figures:  # noqa: FBT001
    known = registrations.register(
        folder, Source(path=source, branch="main", name="project", person="you")
    )
    registrations.set_ci(folder, known, Ci(command=load.ci))
    # A killed job's lease stands for a minute: the next one must outlive that.
    seen, oneshot.LIMIT_S = Seen(), JOB_S * (1 + killed)  # type: ignore[misc]
    with trusting_jobs(folder), Forge(folder / FORGE_FOLDER) as forge:
        async with (
            serving(forge, extend=seen.extend) as url,
            local_mode.person(url, known) as person,
            asyncio.TaskGroup() as group,
        ):
            settings = local_mode.bot_settings(folder, known, url).model_copy(
                update={
                    "sole": False,
                    "token": _job_token(forge, known),
                    "push_gap_s": 20.0,
                    "write_gap_s": 1.0,
                    "settle_s": 10.0,
                }
            )
            items = "\n".join(f"- [ ] Do {n}" for n in range(1, TASKS + 1))
            issue = await person.open_issue("Do it all", items)
            await person.relabel(issue, {"brat"}, set())
            begun = time.perf_counter()
            starts: list[float] = []
            jobs = group.create_task(_jobs(settings, starts, killed))
            talk = group.create_task(_talk(person, issue, seen, forge))
            convoy, landings = await _landings(forge, known)
            quiet = await talk
            late = time.perf_counter() + LATE_S
            while seen.said.keys() - seen.shown.keys() and time.perf_counter() < late:  # noqa: ASYNC110  other tasks
                await asyncio.sleep(LOOK_S)
            jobs.cancel()
        bodies = [each.body for each in forge.store.comments.all()]
        heads = [each.head for each in forge.store.pulls.all()]
        runs = [each.inputs["nonce"] for each in forge.store.runs.all()]
    took_s = time.perf_counter() - begun
    keys = [key for body in bodies for key in keys_in(body)]
    twice = [
        *(name for names in (keys, heads, runs) for name in _repeated(names)),
        *(str(one) for one, given in seen.heard.items() if len(given) > 1),
    ]
    most = max(
        sum(0 <= at - one < MINUTE_S for at in seen.pushed) for one in seen.pushed
    )
    return {
        "convoy": convoy.state,
        "tasks_started_once": all(task.started == 1 for task in convoy.tasks),
        "unanswered": len(seen.said.keys() - seen.shown.keys() & seen.answered.keys()),
        "done_twice": twice,
        "comment_to_answer_s": _cuts(seen.answered, seen.said),
        "comment_to_shown_text_s": _cuts(seen.shown, seen.said),
        "session_end_to_landing_s": _cuts(landings, dict.fromkeys(landings, 0.0)),
        "p95_aim_s": 10,
        "counted_requests": seen.counted,
        "counted_requests_an_hour_quiet": round(quiet / QUIET_S * 3600),
        "answered_not_modified": seen.free,
        "pushes": len(seen.pushed),
        "pushes_most_in_a_minute": most,
        "took_s": round(took_s),
        "jobs": len(starts),
        "load": os.getloadavg()[0],
    }


def _repeated(names: list[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]


def _job_token(forge: Forge, known: Registration) -> str:
    repo = forge.known(known.repository)
    access = Access(
        repos=(repo.id,), permissions=MAY, expires_at=iso(forge.clock() + TOKEN_LASTS)
    )
    return forge.add_token(BOT, repo=repo.id, access=access)


async def _jobs(settings: Settings, starts: list[float], killed: bool) -> None:  # noqa: FBT001
    """Run one job after another; every third may be killed in the middle."""
    while True:
        starts.append(time.perf_counter())
        machine = settings.folder.with_name(f"job-{len(starts)}")
        machine.mkdir()
        (machine / "actor").write_text(loops_actor(settings.repository))
        told = {"folder": machine, "key_folder": settings.folder}
        here = settings.model_copy(update=told)
        async with bot_service.opened(here, lambda _: None) as loop:
            once = oneshot.run_once(loop, after=None, ci_wait_s=600)
            ends = killed and len(starts) % 3 == 0
            try:
                async with asyncio.timeout(JOB_S if ends else None):
                    if not (await once).again:
                        await asyncio.sleep(APART_S)  # until an event wakes the next
            except TimeoutError:
                pass  # as by a lost machine: nothing is released or handed over


async def _talk(person: GitHub, issue: int, seen: Seen, forge: Forge) -> int:
    """Comment, after a quiet time; return how many requests that time cost."""
    while len(forge.store.runs.all()) < TASKS:  # noqa: ASYNC110  another task's
        await asyncio.sleep(LOOK_S)
    await asyncio.sleep(BEGINS_S)
    before = seen.counted
    await asyncio.sleep(QUIET_S)
    quiet = seen.counted - before
    for _ in range(COMMENTS):
        await person.say(issue, "/brat ping")
        await asyncio.sleep(APART_S)
    return quiet


async def _landings(
    forge: Forge, known: Registration
) -> tuple[Convoy, dict[int, float]]:
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
                    took = {n: at - ended.get(runs[n], at) for n, at in landed.items()}
                    return convoy, took
            await asyncio.sleep(LOOK_S)


def _cuts(until: dict[int, float], since: dict[int, float]) -> dict[str, float]:
    took = [until[one] - since[one] for one in until.keys() & since.keys()]
    cuts = quantiles(took, n=20, method="inclusive")
    return {
        "p50": round(cuts[9], 1),
        "p95": round(cuts[18], 1),
        "most": round(max(took), 1),
    }
