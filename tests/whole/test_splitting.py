"""A task that is too much for one agent is split by the mayor, on a real forge."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.world.second_reader import rows
from tests.world.terminal import Said, Terminal, left_running
from tests.world.words import project

pytestmark = pytest.mark.timeout(600)

BARE = ".git/brat/forge/repos/pat-person/project.git"
CONFIG = """\
[mayor]
engine = "planner"
{mayor}

[gate]
max_files = 2

[witness]
attempts = 2

[engine.default]
type = "shell"
args = ["my-coder"]

[engine.planner]
type = "shell"
args = ["my-planner"]
"""
LIST = "- [ ] Write it all (paths: out/)\\n- [ ] Read it (after 1)"
CODER = """\
case $BRAT_TASK in
2) ls out > seen.txt;;
4) mkdir -p out; echo 1 > out/1;;
5) mkdir -p out; echo 2 > out/2;;
*) {whole};;
esac
echo 'BRAT: done'
"""
MANY = "mkdir -p out; for n in 1 2 3; do echo $n > out/$n; done"


def half(title: str, path: str) -> dict[str, Any]:
    return {"title": title, "instructions": "Write it.", "creates": [path]}


OUTSIDE = 'the path "in/1" is not among those of task 1: out/'
HALVES = [half("First half", "out/1"), half("Second half", "out/2")]


def plans(*tasks: dict[str, Any]) -> str:
    """Return shell that answers with a plan."""
    return f"cat > plan.json <<'END'\n{json.dumps({'tasks': tasks})}\nEND\n"


def asked(
    folder: Path, whole: str, planner: str, mayor: str = ""
) -> tuple[Terminal, Said]:
    """Ask for two tasks, of which the first is too much."""
    terminal = project(folder, CONFIG.format(mayor=mayor))
    terminal.install("my-coder", CODER.format(whole=whole))
    terminal.install("my-planner", planner)
    start = f"brat mayor start --headless --task \"$(printf -- '{LIST}')\""
    terminal.install("ask", start + "\n")
    said = terminal.type("ask")
    assert left_running(terminal.cwd) == []
    return terminal, said


def tasks(terminal: Terminal) -> dict[int, dict[str, Any]]:
    [convoy] = json.loads(terminal.type("brat status --json").out)["convoys"]
    return {task["number"]: task for task in convoy["tasks"]}


def test_a_patch_that_is_too_large_becomes_two(tmp_path: Path) -> None:
    faulty = plans(half("Elsewhere", "in/1"), HALVES[1])
    planner = (
        f"if grep -q '{OUTSIDE}' \"$BRAT_PROMPT\"\n"
        f"then\n{plans(*HALVES)}else\n{faulty}fi\n"
    )
    terminal, said = asked(tmp_path, MANY, planner)

    assert said.status == 0, said.err
    found = tasks(terminal)
    assert {number: task["state"] for number, task in found.items()} == {
        1: "dropped",
        **dict.fromkeys((2, 3, 4, 5), "merged"),
    }
    assert (found[1]["attempts"], found[3]["attempts"]) == (1, 2)
    assert found[1]["why"] == "it was split: 4, 5"
    assert found[2]["after"] == [4, 5]
    assert found[3]["title"] == "Split task 1"
    log = terminal.done("brat log show -n 300")
    assert "the mayor added task 3." in log
    assert "Task 3 splits task 1: 4, 5." in log
    told = [
        str(row.fact.get("text", "")) for row in rows(terminal.cwd / BARE) if row.fact
    ]
    [shown] = [text for text in told if "was too much for one agent" in text]
    assert "- task 4: First half" in shown
    assert "it is a part of task 1" in terminal.done("brat why task-2")
