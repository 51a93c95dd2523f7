"""A plan that needs protected paths, from the terminal to what lands."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.world.terminal import Terminal
from tests.world.words import engine, project

pytestmark = [pytest.mark.timeout(600), pytest.mark.layer("landing")]

LIST = """Tell agents how to work

- [ ] Write the guide paths: CLAUDE.md
- [ ] Write the other guide paths: GEMINI.md
- [ ] Write the page paths: page.md
"""
AGENT = "echo Be brief. > CLAUDE.md; [ $BRAT_TASK = 1 ] || echo a > page.md"


def convoy(terminal: Terminal) -> Any:  # noqa: ANN401  JSON
    return json.loads(terminal.type("brat status --json").out)["convoys"][0]


def test_no_session_is_spent_before_somebody_allows_them(tmp_path: Path) -> None:
    more = "[mayor]\n[refinery]\nrequire_ci = false\n[witness]\nattempts = 1\n"
    terminal = project(tmp_path, engine(AGENT, more))
    terminal.done("brat init")
    shown = terminal.type(f"brat mayor start --task '{LIST}' --plan-only").out
    assert "needs protected paths: CLAUDE.md; someone with write access" in shown
    name = convoy(terminal)["name"]
    terminal.type(f"brat convoy approve {name}")
    said = terminal.type("brat mayor run")
    assert "to allow it: brat task allow 1" in said.err
    terminal.type("brat witness run")

    assert [task["attempts"] for task in convoy(terminal)["tasks"]] == [0, 0, 1]
    seen = terminal.type("brat status").out
    assert f"brat task allow 1 --convoy {name}" in seen
    refused = terminal.type("brat task retry 1")
    assert refused.status == 1
    assert "/brat allow 1" in refused.err

    terminal.done("brat task allow 1")
    terminal.type("brat witness run")
    first, second, third = convoy(terminal)["tasks"]
    assert first["state"] == "needs-review"
    assert second["attempts"] == 0
    assert "protected path" in third["why"]
