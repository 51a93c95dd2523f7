"""A person wants another plan, at the terminal; the engine is told what they said."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.world.terminal import Terminal
from tests.world.words import project

pytestmark = pytest.mark.timeout(600)

PLANNER = """
if grep -q "Smaller steps, please" "$BRAT_PROMPT"; then
  cat > plan.json <<'END'
{"tasks": [{"title": "Count", "instructions": "Count.", "creates": ["a.txt"]},
 {"title": "Sum up", "instructions": "Sum.", "creates": ["b.txt"], "after": [1]}]}
END
else
  cat > plan.json <<'END'
{"tasks": [{"title": "Do it", "instructions": "All of it.", "creates": ["a.txt"]}]}
END
fi
"""
CONFIG = """\
[mayor]
engine = "planner"
approve = "plan"
[engine.default]
type = "shell"
args = ["true"]
[engine.planner]
type = "shell"
args = ["sh", "-c", "my-planner"]
"""


def convoy(terminal: Terminal) -> Any:  # noqa: ANN401  JSON
    return json.loads(terminal.type("brat status --json").out)["convoys"][0]


def test_the_second_plan_shows_what_changed(tmp_path: Path) -> None:
    terminal = project(tmp_path, CONFIG)
    terminal.install("my-planner", PLANNER)
    terminal.done("brat init")
    first = terminal.type("brat mayor start --task 'Count and sum.'")
    assert "somebody who may write has to approve the plan" in first.out
    name = convoy(terminal)["name"]

    said = terminal.type(f"brat convoy revise 'Smaller steps, please.' --convoy {name}")
    assert said.status == 0, said.err
    terminal.type("brat mayor run")

    assert [task["title"] for task in convoy(terminal)["tasks"]] == ["Count", "Sum up"]
    shown = terminal.type(f"brat convoy show {name}").out
    assert "- task 1: Do it" in shown
    assert "+ task 3: Sum up (after 2)" in shown
    refused = terminal.type(f"brat task split 2 'no list' --convoy {name}")
    assert "at least 2 parts" in refused.err
    split = "1. Count words\n2. Count lines"
    terminal.done(f"brat task split 2 '{split}' --convoy {name}")
    assert "+ task 4: Count words" in terminal.type(f"brat convoy show {name}").out
