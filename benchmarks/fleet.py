"""The same work as bare_loop.py, through the whole local system.

Forge, bot and runners are the processes that people run; the clock runs from the label
on the issue to the landing on the default branch.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bare_loop import call
from brat.demo import BotProcess
from brat.forge.resources.forge_records import Ci
from brat.local import forge_process, local_mode
from brat.repository import registration as registrations
from brat.repository.log_reader import Reader
from brat.repository.registration import FORGE_FOLDER, Registration, Source
from convoy.model.state import Convoy
from grite.wal import Log

DEADLINE_S = 300.0
LOOK_S = 0.1


@dataclass(frozen=True, kw_only=True)
class Load:
    """What is to be done."""

    seconds: Sequence[float]
    """What each task's agent waits; one entry a task."""
    slots: int
    ci: str = "true"
    ci_slots: int | None = None
    bad: int = 0
    """The task whose first attempt writes `bad` into its file; 0: none."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What it took."""

    wall_s: float
    convoy: Convoy
    log_commits: int


def project(folder: Path, load: Load) -> Path:
    """Make the repository that both sides start from, with one commit on main."""
    folder.mkdir(parents=True)
    call("git", "init", "-q", "-b", "main", cwd=folder)
    waits = " ".join(
        f"{number}) sleep {wait};;" for number, wait in enumerate(load.seconds, 1)
    )
    agent = (
        f"case $BRAT_TASK in {waits} esac; "
        "mkdir -p work && echo done > work/$BRAT_TASK.txt; "
        f"case $BRAT_TASK-$BRAT_ATTEMPT in {load.bad}-1) "
        "echo bad > work/$BRAT_TASK.txt;; esac"
    )
    (folder / ".brat").mkdir()
    (folder / ".brat/config.toml").write_text(
        "[engine.default]\n"
        'type = "shell"\n'
        f"args = ['sh', '-c', '{agent}']\n"
        f"max_sessions = {load.slots}\n"
        f"[mayor]\ntasks = {len(load.seconds)}\n"
        + (f"[ci]\nslots = {load.ci_slots}\n" if load.ci_slots else ""),
        encoding="utf-8",
    )
    (folder / "README.md").write_text("# A project\n", encoding="utf-8")
    call("git", "add", "--all", cwd=folder)
    call("git", "commit", "-q", "-m", "Begin", cwd=folder)
    return folder


def run(folder: Path, source: Path, load: Load) -> Outcome:
    """Do all tasks and return what it took; everything lies in `folder` afterwards."""
    known = registrations.register(
        folder, Source(path=source, branch="main", name="project", person="you")
    )
    registrations.set_ci(folder, known, Ci(command=load.ci, slots=load.ci_slots))
    return asyncio.run(_run(folder, known, load))


async def _run(folder: Path, known: Registration, load: Load) -> Outcome:
    log = folder / "forge.log"
    with forge_process.forge(folder / FORGE_FOLDER, 0, log=log) as (url, _):
        bot = BotProcess(folder, known, url)
        bot.start()
        try:
            await local_mode.point_hook(url, known, bot.port)
            items = "\n".join(f"- [ ] Do {n}" for n in range(1, len(load.seconds) + 1))
            async with local_mode.person(url, known) as github:
                issue = await github.open_issue("Do it all", items)
                begun = time.perf_counter()
                await github.relabel(issue, {"brat"}, set())
            convoy = await _ended(registrations.bare_path(folder, known))
            wall_s = time.perf_counter() - begun
        finally:
            bot.stop()
    bare = registrations.bare_path(folder, known)
    reader = Reader(bare)
    commits = len(reader_entries(bare))
    assert reader.read().convoys[convoy.name].state == "complete", convoy.why
    return Outcome(wall_s=wall_s, convoy=convoy, log_commits=commits)


async def _ended(bare: Path) -> Convoy:
    """Wait for the end; the log is read when it has grown, as to fold it takes time."""
    reader, log = Reader(bare), Log(bare)
    deadline, head = time.monotonic() + DEADLINE_S, None
    while time.monotonic() < deadline:
        if head != (head := log.head()):
            convoy = next(iter(reader.read().convoys.values()), None)
            if convoy is not None and convoy.ended:
                return convoy
        await asyncio.sleep(LOOK_S)
    raise TimeoutError(f"not finished after {DEADLINE_S} s")


def reader_entries(bare: Path) -> list[object]:
    """Return the log's entries."""
    log = Log(bare)
    head = log.head()
    return list(log.entries(head)) if head else []
