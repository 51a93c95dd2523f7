"""`brat demo --engine`: a real CLI does the tasks, with a model that needs no key."""

import json
import os
import shutil
from pathlib import Path

import pytest

from brat.demo.demo_model import CALLS
from tests.engines.install import PROGRAMS
from tests.whole.demo import TASKS
from tests.world.patience import patient
from tests.world.terminal import Terminal, left_running


@pytest.mark.needs("codex")
@pytest.mark.timeout(300)
def test_all_tasks_merge_by_a_real_cli(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = os.pathsep.join((str(PROGRAMS), *os.get_exec_path()))
    monkeypatch.setenv("PATH", path)
    where = tmp_path / "demo"

    said = Terminal(tmp_path, tmp_path).type(
        f"brat demo --json --engine codex --dir {where}", deadline_s=patient(240)
    )

    assert said.status == 0, said.err
    assert said.lines[0].startswith("engine: codex, the real CLI")
    assert said.lines[-1] == "tests on main: pass"
    told = json.loads(said.out)
    attempts = {task["number"]: task["attempts"] for task in told["tasks"]}
    assert {task["state"] for task in told["tasks"]} == {"merged"}
    assert attempts[4] == 2
    assert sum(attempts.values()) <= len(TASKS) + 2
    calls = [json.loads(line) for line in (where / CALLS).read_text().splitlines()]
    assert {call["path"] for call in calls} == {"/v1/responses"}
    assert left_running(where) == []


@pytest.mark.needs("codex")
@pytest.mark.timeout(300)
def test_an_issue_in_prose_is_planned_by_a_real_cli(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = os.pathsep.join((str(PROGRAMS), *os.get_exec_path()))
    monkeypatch.setenv("PATH", path)
    where = tmp_path / "demo"

    said = Terminal(tmp_path, tmp_path).type(
        f"brat demo --json --plan-with codex --dir {where}", deadline_s=patient(240)
    )

    assert said.status == 0, said.err
    assert "the issue is prose, and codex, the real CLI, plans it" in said.lines
    told = json.loads(said.out)["tasks"]
    assert {task["state"] for task in told} == {"merged"}
    assert [task["number"] for task in told] == [*TASKS]
    [*calls] = (json.loads(line) for line in (where / CALLS).read_text().splitlines())
    assert {call["path"] for call in calls} == {"/v1/responses"}
    assert left_running(where) == []


def test_one_that_is_not_installed_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = shutil.which("git")
    assert git is not None
    (tmp_path / "git").symlink_to(git)
    monkeypatch.setenv("PATH", str(tmp_path))

    said = Terminal(tmp_path, tmp_path).type(
        f"brat demo --engine codex --dir {tmp_path / 'demo'}"
    )

    assert said.status == 1
    assert said.err == (
        "brat: codex is not installed: run `npm install -g @openai/codex`, then try "
        "again\n"
    )
    assert not (tmp_path / "demo").exists()
