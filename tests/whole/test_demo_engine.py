"""`brat demo --engine`: a real CLI does the tasks, with a model that needs no key."""

import json
import os
from pathlib import Path

import pytest

from brat.demo import write_sample
from brat.local.start_checks import MODEL_URL
from tests.engines.install import PROGRAMS
from tests.whole.demo import TASKS
from tests.world import scripted_work
from tests.world.given_secrets import given
from tests.world.patience import patient
from tests.world.terminal import Terminal, left_running
from tests.world.vendor.scripted import scripted

DEMO = "brat demo --engine codex --model gpt-5"


@pytest.mark.needs("codex")
@pytest.mark.timeout(300)
def test_all_tasks_merge_by_a_real_cli(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = os.pathsep.join((str(PROGRAMS), *os.get_exec_path()))
    where = tmp_path / "demo"
    ci_command = write_sample(tmp_path / "sample").ci_command
    monkeypatch.setenv("PATH", path)
    key = given("made-up-key-0123456789")
    with scripted(tmp_path, scripted_work.script(ci_command)) as vendor:
        env = f"env OPENAI_API_KEY={key} {MODEL_URL}={vendor.url}"
        said = Terminal(tmp_path, tmp_path).type(
            f"{env} {DEMO} --json --dir {where}", deadline_s=patient(240)
        )

    assert said.status == 0, said.err
    assert said.lines[0] == "engine: codex with the model gpt-5, billed to your key"
    assert said.lines[-1] == "tests on main: pass"
    told = json.loads(said.out)
    attempts = {task["number"]: task["attempts"] for task in told["tasks"]}
    assert {task["state"] for task in told["tasks"]} == {"merged"}
    assert attempts[4] == 2
    assert sum(attempts.values()) <= len(TASKS) + 2
    assert {call["path"] for call in vendor.calls} == {"/v1/responses"}
    assert left_running(where) == []
