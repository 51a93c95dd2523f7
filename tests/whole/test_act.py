"""A convoy whose run is executed by act, a workflow executor that is not ours."""

import asyncio
import sys
from pathlib import Path

import pytest
from msgspec import json

from brat import local, processes, registration as registrations
from brat.demo.bot_process import BotProcess
from brat.forge.records import Ci
from brat.reading import Reader
from brat.registration import FORGE_FOLDER, Registration, Source
from convoy.state import Convoy
from tests.world.seen import look
from tests.world.words import engine, project

STARTER = Path(__file__).parents[1] / "act/starter.py"
CI = "python -m pytest -q -p no:cacheprovider"
DEADLINE_S = 50.0
LOOK_S = 0.05
AGENT = "cd words && cp count.py spell.py"


async def convoy_by_act(folder: Path, known: Registration) -> Convoy:
    """Label an issue, and return the convoy that it became once that has ended."""
    executor = json.encode([sys.executable, "-I", str(STARTER)]).decode()
    log = folder / "forge.log"
    with processes.forge(
        folder / FORGE_FOLDER, 0, "--executor", executor, log=log
    ) as url:
        bot = BotProcess(folder, known, url)
        bot.start()
        try:
            await local.point_hook(url, known, bot.port)
            async with local.person(url, known) as github:
                issue = await github.open_issue("Spell words", "Letter by letter.")
                await github.relabel(issue, {"brat"}, set())
            return await ended(Reader(registrations.bare_path(folder, known)))
        finally:
            bot.stop()


async def ended(reader: Reader) -> Convoy:
    async with asyncio.timeout(DEADLINE_S):
        while True:
            for convoy in reader.read().convoys.values():
                blocked = any(task.state == "blocked" for task in convoy.tasks)
                if convoy.ended or blocked:
                    return convoy
            await asyncio.sleep(LOOK_S)


@pytest.mark.needs("act", "node")
@pytest.mark.timeout(600)
def test_a_run_executed_by_act_ends_merged(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine(AGENT, "[witness]\nattempts = 1\n"))
    folder = tmp_path / "brat"
    source = Source(path=terminal.cwd, branch="main", name="words", person="pat")
    known = registrations.register(folder, source)
    registrations.set_ci(folder, known, Ci(command=CI))

    convoy = asyncio.run(convoy_by_act(folder, known))

    (log,) = folder.glob("forge/runs/*/log.txt")
    said = log.read_text()
    assert convoy.state == "complete", said
    (task,) = convoy.tasks
    assert (task.state, task.started) == ("merged", 1)
    for step in ("Install brat", "Run the session", "Hand over the result"):
        assert f"Success - Main {step}" in said
    seen = look(folder)
    assert [pull["merged"] for pull in seen.pulls] == [True, True]
    assert "words/spell.py" in seen.git("ls-tree", "-r", "--name-only", "main")
