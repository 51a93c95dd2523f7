"""The mode without a server: workflow runs under act, and nothing between them."""

import asyncio
from contextlib import AbstractContextManager
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from msgspec import json

from bot.settings import bot_folder
from brat.forge.storage.forge_state import Forge
from brat.local import forge_process
from brat.local.forge_process import Process
from brat.repository import registration as registrations
from brat.repository.log_reader import Reader
from brat.repository.registration import BOT_FOLDER, FORGE_FOLDER, Registration
from convoy.model.state import Convoy
from tests.world.act.extension import PROGRAM
from tests.world.adopted import asked_for, calling, registered
from tests.world.forge import Json, until
from tests.world.forge_rules import checks, put_ruleset
from tests.world.layers import sampled
from tests.world.patience import patient
from tests.world.seen import look
from tests.world.terminal import Terminal, left_running
from tests.world.waiting import ended
from tests.world.words import FILES, engine, project

pytestmark = pytest.mark.layer("landing")

CI = """\
on: workflow_dispatch
jobs:
  test:
    runs-on: ubuntu-latest
    env: {PYTEST_DISABLE_PLUGIN_AUTOLOAD: "1"}
    steps:
      - uses: actions/checkout@v4
      - run: python -m pytest -q -p no:cacheprovider
"""
ROOT = Path(__file__).parents[2]
ONE_FILE = ".github/workflows/brat.yml"
DEADLINE_S = patient(110)
AGENT = 'sleep 1; echo "said = $BRAT_TASK" > "words/said_$BRAT_TASK.py"'
TRACE = Path("/tmp", f"brat-{uuid4().hex}")  # noqa: S108  see TITLE
TITLE = f"Say $(touch {TRACE}) `touch {TRACE}` ${{{{ github.token }}}}"
TASKS = ("- [ ] Say one paths: words/said_1.py", "- [ ] Say two paths: words/said_2.py")
WITH, WITHOUT = (CI, TASKS, "ci"), ("", TASKS[:1], "brat ci")
"""On each change the second alone: the last test here has CI and a key, too."""


def adopted(
    folder: Path, *, ci: str, copied: bool = True
) -> tuple[Terminal, Registration]:
    """Copy the one file into a project, and put it on a forge, in private.

    There a job's token reads no more than its workflow asks for.
    """
    terminal = project(folder, engine(AGENT, "[witness]\nattempts = 1\n"))
    if ci:
        terminal.commit("Have it judged", {".github/workflows/ci.yml": ci})
    if copied:
        one_file = (ROOT / "workflows/brat.yml").read_text()
        terminal.commit("Let brat work here", {ONE_FILE: one_file})
    known = registered(folder / "brat", terminal)
    with Forge(folder / "brat" / FORGE_FOLDER) as forge:
        forge.update(forge.known(known.repository), private=True)
    return terminal, known


def served(folder: Path, **secrets: str) -> AbstractContextManager[tuple[str, Process]]:
    """Serve the forge, whose runs act starts."""
    return forge_process.forge(
        folder / FORGE_FOLDER,
        0,
        *("--executor", json.encode(PROGRAM).decode()),
        log=folder / "forge.log",
        secrets=secrets,
        program="tests.world.github_forge",
    )


async def worked_off(
    folder: Path, known: Registration, tasks: tuple[str, ...], *, signed: bool
) -> tuple[Convoy, list[str]]:
    """Label an issue; return its convoy at its end, and all runs' titles.

    With several tasks, three loops at once disturb each other.
    """
    bot_folder.log_key_in(folder / BOT_FOLDER)  # its readers believe that one
    key = (folder / BOT_FOLDER / bot_folder.LOG_KEY_FILE).read_text()
    with served(folder, **({"BRAT_LOG_KEY": key} if signed else {})) as (url, _):
        await asked_for(url, known, TITLE, "\n".join(tasks))
        async with calling(url, known, "/actions") as client:
            for _ in range(2 * (len(tasks) - 1)):  # beside the one of the label
                again = await client.post(
                    "workflows/brat.yml/dispatches", json={"ref": "main"}
                )
                assert again.status_code == 204, again.text
            convoy = await ended(
                Reader(registrations.bare_path(folder, known)), DEADLINE_S
            )
            return convoy, await titles(client)


async def titles(client: httpx.AsyncClient) -> list[str]:
    async def completed() -> list[Json]:
        runs = (await client.get("runs")).json()["workflow_runs"]
        return runs if all(run["status"] == "completed" for run in runs) else []

    runs = await until(completed, deadline_s=DEADLINE_S)
    return [run["display_title"] for run in reversed(runs)]


@pytest.mark.needs("act", "node")
@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    ("ci", "tasks", "job"),
    sampled([WITH, WITHOUT], {WITHOUT}),
    ids=["their CI, a key of its own", "no CI, no key"],
)
def test_an_issue_is_merged_by_one_file_alone(
    ci: str, tasks: tuple[str, ...], job: str, tmp_path: Path
) -> None:
    _, known = adopted(tmp_path, ci=ci)
    folder = tmp_path / "brat"
    if not ci:
        with Forge(folder / FORGE_FOLDER) as forge:
            number = forge.known(known.repository).id
        (folder / BOT_FOLDER).mkdir()
        open_key = bot_folder.open_log_key(number).private
        (folder / BOT_FOLDER / bot_folder.LOG_KEY_FILE).write_text(open_key)

    convoy, runs = asyncio.run(worked_off(folder, known, tasks, signed=bool(ci)))

    logs = sorted(folder.glob("forge/runs/*/log.txt"), key=lambda f: int(f.parent.name))
    said = "\n".join(log.read_text() for log in logs)
    assert convoy.state == "complete", said
    ends = [(task.state, task.started) for task in convoy.tasks]
    assert ends == [("merged", 1)] * len(tasks)
    sessions = [run for run in runs if run.startswith("brat say-")]
    assert len(sessions) == len(tasks)
    assert runs.count("brat") >= 2 * len(tasks) - 1 + len(sessions)
    landed = {task.landed for task in convoy.tasks}
    assert len(landed) <= runs.count(job) <= len(landed) + 2  # built again, convoy's
    assert left_running(tmp_path) == []
    seen = look(folder)  # loops which ran at once did not do the same thing
    assert [pull["merged"] for pull in seen.pulls] == [True] * (len(tasks) + 1)
    (comment,) = seen.comments[str(seen.issue["number"])]
    assert comment["user"]["login"] == "github-actions[bot]"
    assert seen.issue["state"] == "closed"
    assert not seen.faults
    assert not TRACE.exists()


async def set_up(folder: Path, terminal: Terminal, known: Registration) -> Convoy:
    """Type the one command, merge what it proposes; return the convoy at its end."""
    with served(folder) as (url, _):
        terminal.done(f"git remote add origin {url}/{known.repository}.git")
        token = f"GH_ENTERPRISE_TOKEN={known.person_token}"
        said = await asyncio.to_thread(terminal.type, f"env {token} brat setup --yes")
        assert "1 left to do by hand" in said.err, said.err
        async with calling(url, known) as client:
            merged = await client.put("pulls/1/merge", json={})
            assert merged.status_code == 200, merged.text
            secrets = (await client.get("environments/brat/secrets")).json()
            assert [one["name"] for one in secrets["secrets"]] == ["BRAT_LOG_KEY"]
            reader = Reader(registrations.bare_path(folder, known))
            convoy = await ended(reader, DEADLINE_S)
        async with calling(url, known, "/actions") as client:
            await titles(client)
        return convoy


@pytest.mark.needs("act", "node")
@pytest.mark.timeout(240)
def test_one_command_and_one_merge_lead_to_a_landed_convoy(tmp_path: Path) -> None:
    named = CI.replace("test:", "ci:", 1)  # as the forge names the check of its run
    terminal, known = adopted(tmp_path, ci=named, copied=False)
    with Forge(tmp_path / "brat" / FORGE_FOLDER) as forge:
        # GitHub does not count the run that brat starts, so brat repeats its result.
        owner = {"actor_type": "RepositoryRole", "actor_id": 5, "bypass_mode": "always"}
        put_ruleset(forge, checks("ci"), repo=known.repository, bypass_actors=[owner])

    convoy = asyncio.run(set_up(tmp_path / "brat", terminal, known))

    (task,) = convoy.tasks
    assert (convoy.state, task.state, task.started) == ("complete", "merged", 1)
    bare = registrations.bare_path(tmp_path / "brat", known)
    history = terminal.done(f"git -C {bare} log --name-only --format= -m main")
    added = {*history.split()} - {
        *FILES,
        ".brat/config.toml",
        ".github/workflows/ci.yml",
    }
    ours = {ONE_FILE, ".github/workflows/brat-wake.yml", ".brat/allowed_signers"}
    assert added == {*ours, "words/said_1.py"}
    seen = look(tmp_path / "brat")
    (comment,) = seen.comments[str(convoy.issue)]
    assert comment["user"]["login"] == "github-actions[bot]"
    assert not seen.faults
    assert left_running(tmp_path) == []
