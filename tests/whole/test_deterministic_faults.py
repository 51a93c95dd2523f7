"""What another attempt would only repeat costs one attempt, and the work is kept."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import json

from tests.world.terminal import Terminal
from tests.world.words import engine, project

pytestmark = pytest.mark.timeout(600)
START = "brat mayor start --task 'Spell words' --headless"


def only_task(terminal: Terminal) -> dict[str, Any]:
    (convoy,) = json.decode(terminal.type("brat status --json").out)["convoys"]
    (task,) = convoy["tasks"]
    return dict(task)


@pytest.mark.layer("landing")
def test_the_same_refusal_twice_ends_the_attempts(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine("echo '# Mine' > AGENTS.md"))

    said = terminal.type(START)

    assert said.status == 1
    task = only_task(terminal)
    assert (task["state"], task["attempts"]) == ("blocked", 2)
    alike = (
        "two attempts were refused for the same reason: The patch changes a "
        "protected path"
    )
    assert any(alike in line for line in said.lines)
