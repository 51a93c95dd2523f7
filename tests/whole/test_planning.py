"""Plans from the terminal to what lands: made by an engine, waiting, side by side."""

import json
from pathlib import Path

import pytest

from tests.world.terminal import Terminal, left_running
from tests.world.words import convoy_of, project

pytestmark = pytest.mark.timeout(600)

PLAN = {
    "tasks": [
        {
            "title": "Say one",
            "instructions": "Write the word one into one.txt.",
            "creates": ["one.txt"],
            "why": "Nothing else touches it.",
        },
        {
            "title": "Say two",
            "instructions": "Write the word two into two.txt.",
            "creates": ["two.txt"],
        },
        {
            "title": "Say both",
            "instructions": "Join them.",
            "paths": ["one.txt"],
            "after": [2],
        },
    ]
}
CONFIG = """\
[mayor]
engine = "planner"

[engine.default]
type = "shell"
args = ["sh", "-c", "cat $BRAT_PROMPT > said-$BRAT_TASK.txt"]

[engine.planner]
type = "shell"
args = ["sh", "-c", '''
{planner}
''']
"""
ASK = "brat mayor start --task 'Say one and two, then both.' --headless"


def planned_by(folder: Path, planner: str) -> Terminal:
    terminal = project(folder, CONFIG.replace("{planner}", planner))
    terminal.install("my-planner", f"cat <<'END'\n{json.dumps(PLAN)}\nEND\n")
    return terminal


@pytest.mark.layer("landing")
def test_prose_becomes_tasks_that_wait_for_what_they_share(tmp_path: Path) -> None:
    terminal = planned_by(
        tmp_path, 'grep -q "then both" "$BRAT_PROMPT" && my-planner > plan.json'
    )
    said = terminal.type(ASK)

    assert said.status == 0, said.err
    convoy = convoy_of(terminal)
    assert [task["after"] for task in convoy["tasks"]] == [[], [], [1, 2]]
    assert [task["state"] for task in convoy["tasks"]] == ["merged"] * 3
    assert "it waited for task 1: task 1 creates one.txt" in terminal.done(
        "brat why task-3"
    )
    assert "Planned 3 tasks (engine planner)." in terminal.done("brat log show -n 200")
    assert left_running(terminal.cwd) == []


@pytest.mark.layer("landing")
def test_a_plan_alone_waits_for_a_person(tmp_path: Path) -> None:
    terminal = planned_by(tmp_path, "my-planner > plan.json")
    terminal.done("brat init")
    said = terminal.type("brat mayor start --task 'Say it.' --plan-only --json")

    assert said.status == 0, said.err
    told = json.loads(said.out)
    approve = f"brat approve {told['name']}"
    assert f"nothing starts until you run: {approve}" in said.err
    assert (told["state"], len(told["tasks"])) == ("planning", 3)
    assert {task["attempts"] for task in told["tasks"]} == {0}

    terminal.done(approve)
    assert "pat-person approved the plan." in terminal.done("brat log show -n 100")
    refused = terminal.type("brat mayor start --task x --plan-only --headless")
    assert refused.status == 2
    assert "use only one" in refused.err
