"""The examples: all of them are read as brat reads them, and one is run."""

import asyncio
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from brat.demo.demo_run import BotProcess
from brat.local import forge_process, local_mode
from brat.repository import registration as registrations
from brat.repository.log_reader import Reader
from brat.repository.registration import FORGE_FOLDER, Registration
from convoy.config import load
from convoy.model.state import Convoy
from convoy.patterns import built_in_pattern
from convoy.planner import tasklist
from tests.world.act.running import acted
from tests.world.adopted import registered
from tests.world.patience import patient
from tests.world.waiting import ended
from tests.world.words import engine, project

EXAMPLES = Path(__file__).parents[2] / "examples"
NIGHTLY = EXAMPLES / "nightly-convoy.yml"
CI = "python -m pytest -q -p no:cacheprovider"
AGENT = 'echo "said = $BRAT_TASK" > "words/said_$BRAT_TASK.py"'
DEADLINE_S = patient(60)


def yaml(file: Path) -> Any:  # noqa: ANN401  YAML
    return YAML(typ="safe").load(file.read_text())


@pytest.mark.layer("landing")
def test_the_list_names_every_example() -> None:
    listed = re.findall(r"\]\((.+?)\)", (EXAMPLES / "README.md").read_text())
    there = {
        str(file.relative_to(EXAMPLES))
        for file in EXAMPLES.rglob("*.*")
        if "demo-project" not in file.parts
        if file.name != "README.md"
    }

    assert set(listed) == there


@pytest.mark.layer("landing")
def test_the_task_lists_become_the_tasks_they_show() -> None:
    form = yaml(EXAMPLES / "forms/convoy.yml")["body"][0]["attributes"]["value"]
    settings = load("", source="example").settings()

    planned = tasklist.plan("Work", form, settings.engines, 20)

    assert [task.after for task in planned] == [(), (1,)]
    text = (EXAMPLES / "second-engine-reviews.toml").read_text()
    config = load(text, source="example")
    assert config.mayor.pattern == "writer-reviewer"
    assert built_in_pattern(config.mayor.pattern).all_steps
    assert {*config.settings().workers} == {"default", "reviewer"}


def opened_by_the_example(folder: Path, url: str, known: Registration) -> None:
    """Run the nightly workflow under act, with a person's token as its secret."""
    checkout = folder / "elsewhere"
    checkout.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=checkout, check=True)
    told = {
        "GITHUB_API_URL": f"{url}/api/v3",
        "GITHUB_REPOSITORY": known.repository,
    }
    secret = ("BRAT_STARTER_TOKEN", known.person_token)
    done = acted(NIGHTLY, checkout, secret, told=told)
    assert done.returncode == 0, done.stdout + done.stderr


async def night(folder: Path, known: Registration) -> Convoy:
    """Let a bot serve a forge, run the example, and return what became of it."""
    log = folder / "forge.log"
    with forge_process.forge(folder / FORGE_FOLDER, 0, log=log) as (url, _):
        bot = BotProcess(folder, known, url)
        bot.start()
        try:
            await local_mode.point_hook(url, known, bot.port)
            await asyncio.to_thread(opened_by_the_example, folder, url, known)
            reader = Reader(registrations.bare_path(folder, known))
            return await ended(reader, DEADLINE_S)
        finally:
            bot.stop()


@pytest.mark.needs("act", "curl")
@pytest.mark.timeout(150)
def test_the_nightly_convoy_ends_merged(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine(AGENT))
    folder = tmp_path / "brat"
    known = registered(folder, terminal, CI)
    issue = json.loads(yaml(NIGHTLY)["jobs"]["open"]["steps"][0]["env"]["ISSUE"])

    convoy = asyncio.run(night(folder, known))

    assert (convoy.state, convoy.title) == ("complete", issue["title"])
    assert convoy.pattern == "maintenance"
    titles = [f"{issue['title']}: {place}" for place in ("src/", "docs/")]
    assert [task.spec.title for task in convoy.tasks] == titles
    assert [task.state for task in convoy.tasks] == ["merged"] * 2
