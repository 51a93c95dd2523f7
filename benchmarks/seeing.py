"""How soon people see: pages, what changes on them, what a clone says of the log."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import Final

import httpx
import psutil
import pygit2

from benchmarks import busy, log_history
from bot.door.feed import SessionOutput, tape_file
from brat.repository.log_reader import CACHE
from brat.repository.registration import BOT_FOLDER
from convoy.log import record as states
from convoy.log.record import follow
from convoy.model import ids
from convoy.rules.people import BlockTask
from convoy.rules.retries import RetryTask
from grite import checkpoint, git
from grite.wal import Log
from tests.pictures import take
from tests.world import browser as browsers
from tests.world.browser import Tab
from tests.world.kept import Kept

PAGES: Final = {
    "overview": "/",
    "convoy": f"/convoys/{busy.name(1)}",
    "task": f"/convoys/{busy.name(1)}/tasks/17",
    "log": "/log",
    "graph": f"/convoys/{busy.name(1)}?view=graph",
    "tasks": "/tasks",
    "sessions": "/sessions",
    "analytics": "/analytics",
}
LOADS, CHANGES, LINES = 20, 20, 5
WATCHERS: Final = 10
LINE_S: Final = 1.0
"""Each of the fifty sessions prints a line this often."""
SEEN_MS: Final = 30_000
LIVE_S: Final = 10
EVENTS: Final = 100_000
TAIL: Final = 2_000


@dataclass(frozen=True, kw_only=True)
class _Place:
    url: str
    token: str
    kept: Kept
    server: psutil.Process
    tapes: dict[tuple[int, int], SessionOutput]


def dashboard(folder: Path, _: int) -> dict[str, object]:
    """Load pages and see changes: 1,000 tasks, 50 sessions that print, ten watchers."""
    return asyncio.run(_dashboard(folder))


async def _dashboard(folder: Path) -> dict[str, object]:
    async with (
        _served(folder) as place,
        browsers.launched() as browser,
        browsers.tab(browser) as tab,
    ):
        await tab.page.goto(f"{place.url}/?{place.token}")
        before = _computed_s(place)
        await asyncio.sleep(LIVE_S)
        live = 100 * (_computed_s(place) - before) / LIVE_S
        sent = {name: await _sent(place, path) for name, path in PAGES.items()}
        loaded = {
            name: await _loaded(tab, place.url + path) for name, path in PAGES.items()
        }
        changed = _told(await _changed(tab, place))
        printed = _told(await _printed(tab, place))
        complaints = tab.complaints
    assert complaints == [], complaints
    ordinary = await _ordinary(folder / "ordinary")
    return {
        "tasks": busy.CONVOYS * busy.TASKS,
        "sessions": len(place.tapes),
        "watchers": WATCHERS,
        "live_percent_of_a_core": round(live, 1),
        "live_percent_aim": 5,
        "sent_ms": sent,
        "first_paint_ms": {name: _told(paints) for name, (_, paints) in loaded.items()},
        "first_paint_of_40_tasks_ms": ordinary,
        "first_paint_ms_aim": 100,
        "loaded_in_a_browser_ms": {
            name: _told(loads) for name, (loads, _) in loaded.items()
        },
        "load_ms_aim": 200,
        "change_seen_ms": changed,
        "change_seen_ms_aim": 1000,
        "line_seen_ms": printed,
        "line_seen_ms_aim": 5000,
        "load": os.getloadavg()[0],
    }


async def _ordinary(folder: Path) -> dict[str, dict[str, float]]:
    """Load the pages of two convoys of twenty tasks each; return their first paint."""
    await asyncio.to_thread(folder.mkdir)
    async with (
        take.shown(take.STORIES["busy"](folder)) as url,
        browsers.launched() as browser,
        browsers.tab(browser) as tab,
    ):
        await tab.page.goto(url)
        base = url.partition("/?")[0]
        pages = {name: base + take.PAGES[name] for name in PAGES}
        return {name: _told((await _loaded(tab, at))[1]) for name, at in pages.items()}


@asynccontextmanager
async def _served(folder: Path) -> AsyncIterator[_Place]:
    """Serve a busy repository whose sessions print, watched by some programs."""
    kept = busy.made(folder / "log.git")
    argv = [sys.executable, "-m", "benchmarks.seeing_server"]
    server = await asyncio.create_subprocess_exec(
        *argv,
        str(kept.path),
        str(folder),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert server.stdout is not None
    url, _, token = (await server.stdout.readline()).decode().strip().partition("/?")
    tapes = {
        (convoy, task): SessionOutput(_tape(folder, convoy, task))
        for convoy in range(1, busy.CONVOYS + 1)
        for task in range(1, busy.TASKS + 1)
        if busy.running(task)
    }
    process = psutil.Process(server.pid)
    place = _Place(url=url, token=token, kept=kept, server=process, tapes=tapes)
    async with AsyncExitStack() as stack:
        group = await stack.enter_async_context(asyncio.TaskGroup())
        beside = [group.create_task(_talk(tape)) for tape in tapes.values()]
        beside += [group.create_task(_watch(place)) for _ in range(WATCHERS)]
        try:
            yield place
        finally:
            for each in beside:
                each.cancel()
            assert server.stdin is not None
            server.stdin.close()  # it ends with it
            await server.wait()


def _tape(folder: Path, convoy: int, task: int) -> Path:
    session = ids.session_name(busy.name(convoy), task, 1)
    return tape_file(folder / BOT_FOLDER, session)


async def _talk(tape: SessionOutput) -> None:
    while True:
        tape.add(tape.next, [f"{time.time()} reads parser/case.py, line by line\n"])
        await asyncio.sleep(LINE_S)


def _client(place: _Place) -> httpx.AsyncClient:
    bearer = place.token.removeprefix("token=")
    return httpx.AsyncClient(
        base_url=place.url,
        headers={"Authorization": f"Bearer {bearer}"},
        trust_env=False,
        timeout=httpx.Timeout(SEEN_MS / 1000),
    )


async def _watch(place: _Place) -> None:
    """Watch as a page does: ask for the first page whenever something changed."""
    async with (
        _client(place) as http,
        http.stream("GET", "/events") as events,
    ):
        async for line in events.aiter_lines():
            if line.startswith("event: changed"):
                await http.get("/")


async def _sent(place: _Place, path: str) -> dict[str, float]:
    """Ask for a page; tell how long it took, and what of that the server computed."""
    took, kb, before = [], 0.0, _computed_s(place)
    async with _client(place) as http:
        for turn in range(LOADS):
            begun = time.perf_counter()
            answer = await http.get(_anew(path, turn))
            took.append((time.perf_counter() - begun) * 1000)
            assert answer.status_code == httpx.codes.OK, (path, answer.text)
            assert "gzip" in answer.headers["Content-Encoding"]
            kb = round(answer.num_bytes_downloaded / 1000, 1)
    cpu = (_computed_s(place) - before) * 1000 / LOADS
    return {**_told(took), "cpu": round(cpu, 1), "kb": kb}


def _computed_s(place: _Place) -> float:
    times = place.server.cpu_times()
    return float(times.user + times.system)


PAINTED: Final = """() => new Promise(done =>
  new PerformanceObserver((seen) => {
    const [first] = seen.getEntriesByName("first-contentful-paint");
    const [all] = performance.getEntriesByType("navigation");
    if (first) done([all.loadEventStart, first.startTime]);
  }).observe({ type: "paint", buffered: true }))"""
"""https://developer.mozilla.org/en-US/docs/Web/API/PerformancePaintTiming"""

AT_REST: Final = "() => live.then(() => new Promise(requestIdleCallback))"


async def _loaded(tab: Tab, url: str) -> tuple[list[float], list[float]]:
    """Load a page in the browser; from the click to its load event and first paint.

    The page before it is at rest, as it is when a person clicks.
    """
    loads, paints = [], []
    for turn in range(LOADS):
        await tab.page.goto(_anew(url, turn), wait_until="load")
        load, paint = await tab.page.evaluate(PAINTED)
        loads.append(float(load))
        paints.append(float(paint))
        await tab.page.evaluate(AT_REST)
    return loads, paints


def _anew(path: str, turn: int) -> str:
    """Return the address under which the server has not made the page yet."""
    return f"{path}{'&' if '?' in path else '?'}turn={turn}"


async def _changed(tab: Tab, place: _Place) -> list[float]:
    """Block a task and queue it again; from the log's new head to the screen."""
    convoy, task = busy.name(busy.CONVOYS), busy.FIRST_QUEUED
    await tab.page.goto(f"{place.url}/convoys/{convoy}/tasks/{task}")
    found = []
    for turn in range(CHANGES):
        block = turn % 2 == 0
        command = (
            BlockTask(convoy=convoy, task=task, why="a person wants it so")
            if block
            else RetryTask(convoy=convoy, task=task, by="ann")
        )
        place.kept.rules.do(command)
        place.kept.tell()
        state = "blocked" if block else "queued"
        found.append(await _until(tab, f"h1 .badge.{state}"))
    return found


async def _printed(tab: Tab, place: _Place) -> list[float]:
    """Print a line; from there to the screen."""
    await tab.page.goto(place.url + PAGES["task"])
    found = []
    for turn in range(LINES):
        said = f"this is line {turn}."
        tape = place.tapes[1, 17]
        tape.add(tape.next, [f"{said}\n"])
        found.append(await _until(tab, f"#printed span:text('{said}')"))
    return found


async def _until(tab: Tab, selector: str) -> float:
    begun = time.perf_counter()
    await tab.page.wait_for_selector(selector, timeout=SEEN_MS)
    return (time.perf_counter() - begun) * 1000


def _told(took: list[float]) -> dict[str, float]:
    """Return the middle and the 95th percentile."""
    cuts = quantiles(took, n=20, method="inclusive")
    return {"p50": round(cuts[9], 1), "p95": round(cuts[18], 1)}


# --- brat status ----------------------------------------------------------------------


def status(folder: Path, repeats: int) -> dict[str, object]:
    """Clone a repository with 100,000 events, fetch its log, and ask about it."""
    origin = folder / "origin.git"
    pushes = list(log_history.pushes(EVENTS))
    commits = log_history.write(origin, pushes)
    _checkpoint(origin, commits, [len(push) for push in pushes])
    convoys = [*follow(Log(origin), commits[-1]).state.convoys]
    names = ("fetch", "status", "again", "json", "why")
    runs: dict[str, list[_Run]] = {name: [] for name in names}
    for number in range(repeats):
        clone = folder / str(number)
        git.run(["clone", "--quiet", str(origin), str(clone)], cwd=folder)
        fetch = ["git", "fetch", "-q", "origin", "refs/grite/*:refs/grite/*"]
        runs["fetch"].append(_run(fetch, clone))
        brat = [sys.executable, "-I", "-m", "brat"]
        cache = clone / ".git" / CACHE / "state.json"
        runs["status"].append(_run([*brat, "status"], clone))
        runs["again"].append(_run([*brat, "status"], clone))
        cache.unlink()
        runs["json"].append(_run([*brat, "status", "--json"], clone))
        cache.unlink()
        runs["why"].append(_run([*brat, "why", convoys[-1]], clone))
    return {
        "events": EVENTS,
        "convoys": len(convoys),
        **{
            name: {"s": [run[0] for run in found], "cpu_s": [run[1] for run in found]}
            for name, found in runs.items()
        },
        "status_s_aim": 0.5,
        "why_s_aim": 0.5,
        "load": os.getloadavg()[0],
    }


_Run = tuple[float, float]
"""Seconds, and how many of them a processor was at it."""


def _run(argv: list[str], folder: Path) -> _Run:
    begun, before = time.perf_counter(), _children_s()
    subprocess.run(argv, cwd=folder, stdout=subprocess.DEVNULL, check=False)
    return round(time.perf_counter() - begun, 2), round(_children_s() - before, 2)


def _children_s() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _checkpoint(path: Path, commits: list[str], sizes: list[int]) -> None:
    """Keep what the log says up to the last two thousand events, as a bot does."""
    at, after = len(commits), 0
    while after < TAIL:
        at -= 1
        after += sizes[at]
    reading = follow(Log(path), commits[at - 1])
    repo, made = pygit2.Repository(str(path)), 1_700_000_000_000
    commit = checkpoint.write(
        repo, states.encode_reading(reading), commits[at - 1], made
    )
    repo.references.create(checkpoint.ref_of(made), commit)
