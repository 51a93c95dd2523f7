"""What is in the images works: run by `make image`, which builds them first."""

import asyncio
import json
import shutil
from pathlib import Path
from socket import socket
from typing import Any

import pytest

from bot.settings import bot_folder
from brat.local import forge_process, local_mode
from brat.repository import registration as registrations
from brat.repository.log_reader import Reader
from brat.repository.registration import BOT_FOLDER, FORGE_FOLDER, Registration
from convoy.events.session_events import TaskStarted
from convoy.model.records import EngineSpec
from convoy.model.state import Convoy
from runner.engines import ENGINES
from tests.image.containers import BUILT, client, docker, given, options, running
from tests.runner.job import Forge
from tests.world.adopted import asked_for, bot_file, registered
from tests.world.forge import until
from tests.world.held_port import held_port
from tests.world.patience import patient
from tests.world.vendor.script import Case, Run, Script, Write
from tests.world.vendor.scripted import scripted
from tests.world.waiting import ended
from tests.world.words import engine, project

DEADLINE_S = patient(100)
PROMPT = "Greet the world"
ENGINE_IMAGES = [target for target in BUILT if target.startswith("runner-")]
pytestmark = pytest.mark.timeout(240)


def run(forge: Forge, started: TaskStarted, image: str, **more: str) -> dict[str, Any]:
    env = forge.environment(forge.hand_off(started), PATH=None, **more)
    given(forge.root)
    docker("run", "--rm", *options(forge.root, env), image, env=env)
    left = json.loads((forge.root / "result/result.json").read_text())
    assert isinstance(left, dict)
    return left


def greeting() -> Script:
    """Return models that have the greeting written."""
    steps = (Write(path="hello.txt", content="hello\n"), Run(command="echo 1 > ran"))
    closing = "I wrote it.\n\nBRAT: done. Wrote hello.txt."
    return Script(cases=(Case(when=(PROMPT,), steps=steps, closing=closing),))


@pytest.mark.parametrize("target", ENGINE_IMAGES)
def test_an_engine_works_off_a_scripted_task(tmp_path: Path, target: str) -> None:
    name, forge = target.removeprefix("runner-"), Forge(tmp_path)
    spec = EngineSpec(type=name, model=ENGINES[name].sample_model, timeout_s=600)

    with scripted(tmp_path, greeting()) as vendor:
        started = forge.started(title=PROMPT, engine=spec)
        result = run(forge, started, f"brat-{target}", BRAT_MODEL_URL=vendor.url)

    assert result["conclusion"] == "success", result
    assert "hello.txt" in result["files"]
    assert vendor.calls


async def served_by(image: str, folder: Path, known: Registration) -> Convoy:
    """Let a container be the bot of a local forge; return the convoy of an issue."""
    log, home = folder / "forge.log", folder / "bot-home"
    home.mkdir()
    forge = forge_process.forge(folder / FORGE_FOLDER, 0, log=log)
    with forge as (url, _), held_port() as port:
        bot_folder.log_key_in(folder / BOT_FOLDER)
        shutil.copy(folder / BOT_FOLDER / bot_folder.LOG_KEY_FILE, home)
        bot_file(
            home / "bot.json",
            known,
            url,
            folder="/var/lib/brat",
            secret=known.secret,
            port=port,
            log_key_file=f"/etc/brat/{bot_folder.LOG_KEY_FILE}",
        )
        with running(image, given(home), f"--volume={home}:/etc/brat:ro"):
            await until(lambda: answers(port), deadline_s=DEADLINE_S)
            await local_mode.point_hook(url, known, port)
            await asked_for(url, known, "Say it", "Once.")
            reader = Reader(registrations.bare_path(folder, known))
            return await ended(reader, DEADLINE_S)


def answers(port: int) -> bool:
    with socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def test_the_bot_serves_a_forge_from_its_container(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine("echo said = 1 > words/said.py"))
    folder = tmp_path / "brat"
    known = registered(folder, terminal, "python -m pytest -q")

    convoy = asyncio.run(served_by("brat-bot", folder, known))

    assert convoy.state == "complete", convoy
    (told,) = json.loads(docker("image", "inspect", "brat-bot"))
    config = told["Config"]
    assert len(config["Labels"]["org.opencontainers.image.revision"]) >= 7
    assert config["Healthcheck"]["Test"][:4] == ["CMD", "python", "-I", "-c"]
    assert client().endswith("docker")
