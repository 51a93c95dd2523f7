"""Four containers work on one convoy and share nothing but the forge; two of them fail.

Run by `make image`.
"""

import asyncio
import os
import sys
from pathlib import Path

import pytest
from msgspec import json

from brat.demo.demo_run import BotProcess
from brat.local import forge_process, local_mode
from brat.repository import registration as registrations
from brat.repository.log_reader import Reader, newest_lines, shown_line
from brat.repository.registration import FORGE_FOLDER, Registration
from convoy.model.state import Convoy
from tests.image.containers import docker, tried
from tests.world.adopted import asked_for, registered
from tests.world.forge import until
from tests.world.patience import patient
from tests.world.waiting import ended
from tests.world.words import engine, project

STARTER = Path(__file__).with_name("container_starter.py")
AGENT = 'sleep 8; echo "said = $BRAT_TASK" > "words/said_$BRAT_TASK.py"'
CONFIG = f'[witness]\nattempts = 3\ntimeout = "{patient(20):.0f}s"\nsetup = "5s"\n'
TASKS = "".join(f"- [ ] Say {n} paths: words/said_{n}.py\n" for n in range(1, 5))
DEADLINE_S = patient(150)


def containers(label: str) -> list[str]:
    return docker("ps", "--quiet", f"--filter=label={label}").split()


def is_cut_off(names: list[str]) -> bool:
    """Stop all that one of the containers does; a busy machine may fail to."""
    return any(tried("pause", name).returncode == 0 for name in names)


async def disturbed(label: str) -> None:
    """Wait for four containers; kill one, and cut another off from everything."""

    def four() -> list[str]:
        found = containers(label)
        return found if len(found) >= 4 else []

    found = await until(lambda: asyncio.to_thread(four), deadline_s=DEADLINE_S)
    await asyncio.to_thread(docker, "kill", found[0])
    await until(lambda: asyncio.to_thread(is_cut_off, found[1:]), deadline_s=DEADLINE_S)


async def worked_off(folder: Path, known: Registration, label: str) -> Convoy:
    told = ("brat-runner", label, os.environ.get("DOCKER_HOST", ""))
    words = [sys.executable, "-I", str(STARTER), *told]
    options = ("--executor", json.encode(words).decode(), "--extend", "sessions")
    log = folder / "forge.log"
    with forge_process.forge(
        folder / FORGE_FOLDER, 0, *options, log=log, program="tests.world.github_forge"
    ) as (url, _):
        bot = BotProcess(folder, known, url)
        bot.start()
        try:
            await local_mode.point_hook(url, known, bot.port)
            await asked_for(url, known, "Say it", TASKS)
            await disturbed(label)
            reader = Reader(registrations.bare_path(folder, known))
            return await ended(reader, DEADLINE_S)
        finally:
            bot.stop()


@pytest.mark.timeout(400)
def test_all_is_merged_when_one_is_killed_and_one_is_cut_off(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine(AGENT, CONFIG))
    folder, label = tmp_path / "brat", f"brat-fleet-{tmp_path.name}"
    known = registered(folder, terminal, "python -m pytest -q")

    try:
        convoy = asyncio.run(worked_off(folder, known, label))
    finally:
        left = containers(label)
        for name in left:
            docker("rm", "--force", name)

    lines = newest_lines(registrations.bare_path(folder, known), 200)
    log = "\n".join(map(shown_line, lines))
    assert convoy.state == "complete", log
    assert [task.state for task in convoy.tasks] == ["merged"] * 4
    assert sorted(task.started for task in convoy.tasks) == [1, 1, 2, 2], log
    assert left == []
