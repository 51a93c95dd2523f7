"""Run a soak, print a line each half minute, and one JSON object at the end."""

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from statistics import mean
from typing import Final
from urllib.parse import urlsplit

import msgspec
import psutil

from benchmarks.soak import cut_connections, place, verdict
from benchmarks.soak.cut_connections import CutConnections
from benchmarks.soak.place import PERSON, REPOSITORIES, Bot, Place
from benchmarks.soak.samples import LOCKS, Sample, refs, sample, working_below
from bot.forge import transport
from bot.forge.github import GitHub
from brat import demo
from brat.repository.log_reader import Reader

LOOK_S: Final = 1.0
SAMPLE_S: Final = 30.0
SETTLE_S: Final = 900.0
KILL_BOT_S, KILL_RUNNER_S, CUT_S = (60, 180), (5, 25), (4, 20)
"""Between two of a kind: at least, at most."""


class Soak:
    """One run."""

    def __init__(self, where: Place, url: str, forge: int, tasks: int) -> None:
        """Look at `where`, whose forge is at `url` in process `forge`."""
        self.samples: list[Sample] = []
        self.runners_killed = 0
        self._place = where
        self._url = url
        self._forge = forge
        self._items = "\n".join(f"- [ ] Do {each}" for each in range(1, tasks + 1))
        self._readers = {each: Reader(where.bare(each)) for each in REPOSITORIES}
        self._opened = dict.fromkeys(REPOSITORIES, 0)

    @property
    def landed(self) -> int:
        """How many tasks have landed."""
        return sum(
            task.state == "merged"
            for reader in self._readers.values()
            for convoy in reader.state.convoys.values()
            for task in convoy.tasks
        )

    def is_busy(self, repository: str) -> bool:
        """Return whether a convoy is under way there."""
        convoys = self._readers[repository].read().convoys.values()
        ended = sum(convoy.ended for convoy in convoys)
        return ended < self._opened[repository]

    async def keep_busy(self) -> None:
        """Label an issue wherever no convoy is under way."""
        for each in REPOSITORIES:
            if not self.is_busy(each):
                await self._label(each)
                self._opened[each] += 1

    async def _label(self, repository: str) -> None:
        async with transport.async_client(60) as client:
            github = GitHub(
                client,
                api_url=f"{self._url}/api/v3",
                repository=repository,
                token=self._place.tokens[PERSON],
            )
            title = f"Round {self._opened[repository] + 1}"
            issue = await github.open_issue(title, self._items)
            await github.relabel(issue, {"brat"}, set())

    def kill_a_runner(self, drawn: random.Random) -> None:
        """Kill a runner with all that it has started, if there is one."""
        found = []
        for process in working_below(self._place.folder):
            with suppress(psutil.Error):
                if process.cmdline()[-2:] in demo.RUNNERS:
                    found.append(process)
        if found:
            self.runners_killed += 1
            runner = drawn.choice(found)
            with suppress(psutil.Error):
                for each in (runner, *runner.children(recursive=True)):
                    with suppress(psutil.Error):
                        each.kill()

    def look(self, bot: Bot) -> None:
        """Take a sample and print it."""
        taken = sample(self._place, self._forge, bot.pid, self.landed)
        self.samples.append(taken)
        print(json.dumps(msgspec.to_builtins(taken)), file=sys.stderr, flush=True)


class _Timer:
    """Says when it is time again."""

    def __init__(self, drawn: random.Random, between: tuple[float, float]) -> None:
        self._drawn, self._between = drawn, between
        self._next = time.monotonic() + drawn.uniform(*between)

    def is_due(self) -> bool:
        due = time.monotonic() >= self._next
        if due:
            self._next = time.monotonic() + self._drawn.uniform(*self._between)
        return due


async def _run(
    folder: Path, minutes: float, tasks: int, seed: int
) -> dict[str, object]:
    where = place.make(folder)
    drawn = random.Random(seed)  # noqa: S311  it only has to be repeatable
    with place.forge(where) as (url, forge):
        async with cut_connections.before(urlsplit(url).port or 0) as (proxy, cut_url):
            bot = Bot(where, cut_url)
            soak = Soak(where, url, forge, tasks)
            bot.start()
            try:
                await _disturbed(soak, bot, proxy, drawn, minutes)
                await _settled(soak)
                soak.look(bot)
            finally:
                await asyncio.to_thread(bot.stop)  # it says goodbye through the proxy
            left = [name for each in REPOSITORIES for name in refs(where, each, LOCKS)]
    demo.end_all(folder)
    return {
        "minutes": minutes,
        "seed": seed,
        "tasks_landed": soak.landed,
        "bots_killed": bot.kills,
        "runners_killed": soak.runners_killed,
        "connections_cut": proxy.cuts,
        "faults": [*verdict.faults(where, tasks)],
        "leases_left": len(left),
        **_growth(soak.samples),
    }


async def _disturbed(
    soak: Soak, bot: Bot, proxy: CutConnections, drawn: random.Random, minutes: float
) -> None:
    end = time.monotonic() + minutes * 60
    bots, runners, cuts = (
        _Timer(drawn, each) for each in (KILL_BOT_S, KILL_RUNNER_S, CUT_S)
    )
    looks = _Timer(drawn, (SAMPLE_S, SAMPLE_S))
    while time.monotonic() < end:
        await soak.keep_busy()
        if looks.is_due():
            soak.look(bot)
        if bots.is_due():
            bot.kill()
        if runners.is_due():
            soak.kill_a_runner(drawn)
        if cuts.is_due():
            proxy.cut()
        await asyncio.sleep(LOOK_S)


async def _settled(soak: Soak) -> None:
    """Wait until all convoys have ended; nothing is killed any more."""
    end = time.monotonic() + SETTLE_S
    while any(soak.is_busy(each) for each in REPOSITORIES):
        if time.monotonic() > end:
            break
        await asyncio.sleep(LOOK_S)
    await asyncio.sleep(SAMPLE_S)


def _growth(samples: list[Sample]) -> dict[str, object]:
    """Return the means of the first and the last third, and the last sample."""
    third = max(1, len(samples) // 3)
    names = ("forge_mb", "bot_mb", "forge_files", "bot_files", "processes", "branches")
    means = {
        name: [
            round(mean(getattr(each, name) for each in part), 1)
            for part in (samples[:third], samples[-third:])
        ]
        for name in names
    }
    return {
        "first_and_last_third": means,
        "disk_mb": [samples[0].disk_mb, samples[-1].disk_mb],
        "at_the_end": msgspec.to_builtins(samples[-1]),
    }


def main() -> int:
    """Run it; 0 only if nothing was lost or done twice, and nothing is left."""
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--tasks", type=int, default=50)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="brat-soak-") as folder:
        found = asyncio.run(
            _run(Path(folder).resolve(), given.minutes, given.tasks, given.seed)
        )
    print(json.dumps(found))
    return 1 if found["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
