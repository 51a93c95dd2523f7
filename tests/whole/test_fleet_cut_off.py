"""Four machines share a convoy and nothing else but the forge; two of them fail."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from msgspec import json

from brat.demo.demo_run import BotProcess
from brat.forge.resources.account_resource import Ci
from brat.local import forge_process, local_mode
from brat.repository import registration as registrations
from brat.repository.log_reader import Reader
from brat.repository.registration import FORGE_FOLDER, Registration, Source
from convoy.model.state import Convoy
from tests.world import machine
from tests.world.patience import patient
from tests.world.terminal import left_running
from tests.world.waiting import ended
from tests.world.words import NO_BOX, engine, project

AGENT = """\
touch {signs}/$BRAT_TASK-$BRAT_ATTEMPT
until [ -e {signs}/go ]; do sleep 0.1; done
echo "said = $BRAT_TASK" > "words/said_$BRAT_TASK.py"
"""
CONFIG = '[witness]\nattempts = 3\ntimeout = "600s"\n' + NO_BOX
TASKS = "".join(f"- [ ] Say {n} paths: words/said_{n}.py\n" for n in range(1, 5))
DEADLINE_S = patient(120)
LOOK_S = 0.1
KILLED, CUT_OFF = "1-1", "2-1"


async def appear(files: list[Path]) -> None:
    """Wait until files are there."""
    while not all(os.path.exists(file) for file in files):  # noqa: ASYNC110, ASYNC240, PTH110  other processes make them
        await asyncio.sleep(LOOK_S)


def pid_of(place: Path) -> int:
    return int((place / "pid").read_text())


def unplug(place: Path) -> None:
    """Cut a machine off: from now on nothing comes in or goes out."""
    (first,) = Path(f"/proc/{pid_of(place)}/task").iterdir()
    inside = (first / "children").read_text().split()[0]
    os.kill(int(inside), signal.SIGUSR1)


async def disturbed(folder: Path) -> None:
    """Wait until all four work; kill one machine, and unplug another."""
    signs, machines = folder / "signs", folder / "machines"
    await appear([signs / f"{number}-1" for number in range(1, 5)])
    os.kill(pid_of(machines / KILLED), signal.SIGKILL)
    unplug(machines / CUT_OFF)
    (signs / "go").touch()


async def worked_off(folder: Path, known: Registration) -> Convoy:
    words = [sys.executable, "-I", machine.__file__, str(folder / "machines")]
    options = ("--executor", json.encode(words).decode(), "--extend", "sessions")
    brat, log = folder / "brat", folder / "forge.log"
    with forge_process.forge(
        brat / FORGE_FOLDER, 0, *options, log=log, program="tests.world.github_forge"
    ) as url:
        bot = BotProcess(brat, known, url)
        bot.start()
        try:
            await local_mode.point_hook(url, known, bot.port)
            async with local_mode.person(url, known) as github:
                issue = await github.open_issue("Say it", TASKS)
                await github.relabel(issue, {"brat"}, set())
            async with asyncio.timeout(DEADLINE_S):
                await disturbed(folder)
                reader = Reader(registrations.bare_path(brat, known))
                return await ended(reader, DEADLINE_S)
        finally:
            bot.stop()


@pytest.mark.needs("unshare")
@pytest.mark.timeout(240)
def test_all_is_merged_when_one_is_killed_and_one_is_cut_off(tmp_path: Path) -> None:
    (tmp_path / "signs").mkdir()
    agent = AGENT.format(signs=tmp_path / "signs")
    terminal = project(tmp_path, engine(agent, CONFIG))
    source = Source(path=terminal.cwd, branch="main", name="words", person="pat")
    known = registrations.register(tmp_path / "brat", source)
    registrations.set_ci(tmp_path / "brat", known, Ci(command="python -m pytest -q"))

    convoy = asyncio.run(worked_off(tmp_path, known))

    logs = [file.read_text() for file in tmp_path.glob("brat/forge/runs/*/log.txt")]
    assert convoy.state == "complete", "\n".join(logs)
    assert [task.state for task in convoy.tasks] == ["merged"] * 4
    assert [task.started for task in convoy.tasks] == [2, 2, 1, 1], "\n".join(logs)
    result = tmp_path / "machines" / CUT_OFF / "result/result.json"
    assert json.decode(result.read_bytes())["conclusion"] == "success"  # not handed in
    assert any("<urlopen error" in log for log in logs)  # nobody answered
    assert left_running(tmp_path) == []
