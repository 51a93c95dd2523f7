"""The action: its page, its code, and a task that it runs under act."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from bot.oneshot import Left
from bot.settings import oneshot_settings
from runner.inputs import job_inputs, job_inputs as runner_inputs
from tests.runner.job import ALLOWED, TOKEN, Forge, git, on_forge
from tests.world.act.running import acted

ROOT = Path(__file__).parents[2]
ACTION = ROOT / "action.yml"
WORKFLOW = """
on: workflow_dispatch
jobs:
  task:
    runs-on: ubuntu-latest
    steps:
      - id: brat
        uses: octo/brat@v1
        with: {given}
      - env: {{SAID: "${{{{ toJSON(steps.brat.outputs) }}}}"}}
        run: echo "$SAID" > {said}
"""


def action() -> dict[str, Any]:
    return dict(YAML(typ="safe").load(ACTION.read_text()))


def step(name: str) -> dict[str, Any]:
    return next(dict(one) for one in action()["runs"]["steps"] if one["name"] == name)


def read_by(module: Any) -> set[str]:  # noqa: ANN401  a module
    source = Path(module.__file__).read_text()
    return set(re.findall(r'"(BRAT_[A-Z_]+)"', source))


def test_each_input_reaches_code_that_reads_it() -> None:
    used = ACTION.read_text().partition("\nruns:")[2]
    task = {name for name in step("Run the session")["env"] if name[:5] == "BRAT_"}
    loop = {name for name in step("Run the loop once")["env"] if name[:5] == "BRAT_"}

    assert task <= read_by(runner_inputs) | read_by(job_inputs)
    assert loop == read_by(oneshot_settings)
    for name in action()["inputs"]:
        assert f"inputs.{name}" in used


def test_each_output_is_one_that_the_code_sets(forge: Forge) -> None:
    told = forge.root / "outputs"
    forge.run(forge.started("sh", "-c", "echo 1 > a"), GITHUB_OUTPUT=str(told))
    of_task = set(re.findall(r"(?m)^([\w-]+)<<", told.read_text()))
    of_loop = set(Left.__struct_fields__)
    sources = [each["value"] for each in action()["outputs"].values()]

    assert {f"${{{{ steps.task.outputs.{name} }}}}" for name in of_task} | {
        f"${{{{ steps.loop.outputs.{name} }}}}" for name in of_loop
    } | {"${{ steps.place.outputs.result-folder }}"} == set(sources)


def run(forge: Forge, **given: str) -> dict[str, str]:
    """Run a job with the action; return its outputs. It may push nothing."""
    ours, checkout = forge.root / "action", forge.root / "checkout"
    ours.mkdir()
    shutil.copy(ACTION, ours)
    git("clone", "-q", str(forge.bare), str(checkout), cwd=forge.root)
    file, said = forge.root / "own.yml", forge.root / "said.json"
    given = {
        "allowed_signers": ALLOWED,
        "result_folder": str(forge.root / "left"),
    } | given
    with_inputs = {name.replace("_", "-"): value for name, value in given.items()}
    file.write_text(WORKFLOW.format(given=json.dumps(with_inputs), said=said))
    before = git("for-each-ref", cwd=forge.bare)
    done = acted(
        file,
        checkout,
        ("GITHUB_TOKEN", TOKEN),
        *("--local-repository", f"file://{forge.root}/octo/brat@v1={ours}"),
        told=on_forge(f"file://{forge.root}"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert git("for-each-ref", cwd=forge.bare) == before
    return dict(json.loads(said.read_text()))


@pytest.mark.needs("act")
def test_it_runs_a_task_and_pushes_nothing(forge: Forge) -> None:
    log = forge.hand_off(forge.started("sh", "-c", "echo hi > greeting.txt"))

    said = run(forge, role="task", session="fix-login-7/2/1", log=log)

    left = forge.root / "left"
    assert said["conclusion"] == "success"
    assert said["branch"] == "convoy/fix-login-7/task-2"
    assert said["result-folder"] == str(left)
    assert said["result-file"] == str(left / "result.json")
    assert json.loads((left / "result.json").read_text())["files"] == ["greeting.txt"]


@pytest.mark.needs("act")
def test_it_does_a_task_of_somebodys_own_workflow(forge: Forge) -> None:
    touched = forge.root / "touched"

    said = run(
        forge,
        role="task",
        prompt=f"Greet the world; `$(touch {touched})` is only text.",
        engine="shell",
        args="sh -c 'echo hi > greeting.txt; echo BRAT: done I greeted.'",
        timeout="20",
    )

    assert (said["conclusion"], said["summary"]) == ("success", "I greeted.")
    assert "+hi" in Path(said["patch"]).read_text()
    assert not touched.exists()
