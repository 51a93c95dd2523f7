"""What the model's vendor does to a convoy."""

from pathlib import Path

import pytest

from tests.runner.engines.hearing import SAMPLES
from tests.world.terminal import Terminal, left_running
from tests.world.words import NO_BOX, facts, project

pytestmark = pytest.mark.timeout(600)

CONFIG = '[engine.default]\ntype = "claude-code"\n\n[witness]\nattempts = 1\n' + NO_BOX
HEADLESS = "brat mayor start --task 'Spell words' --headless"
KEYED = f"env ANTHROPIC_API_KEY=made-up-key-0123456789 {HEADLESS}"
LIMITED_ONCE = """\
if mkdir '{met}' 2> /dev/null; then cat '{limited}'; exit 1; fi
my-agent < "$BRAT_PROMPT"
cat '{done}'
"""


def claude(terminal: Terminal) -> None:
    script = LIMITED_ONCE.format(
        met=terminal.home / "met",
        limited=SAMPLES / "claude-b429.stdout",
        done=SAMPLES / "claude-ok.stdout",
    )
    terminal.install("claude", script)


@pytest.mark.layer("landing")
def test_a_rate_limit_costs_the_task_some_time_and_not_its_only_attempt(
    tmp_path: Path,
) -> None:
    terminal = project(tmp_path, CONFIG)
    claude(terminal)

    said = terminal.type(KEYED)

    assert said.status == 0, said.err
    (again,) = [f for f in facts(terminal, "task.queued") if f["cause"] != "planned"]
    (refused,) = facts(terminal, "work.refused")
    first, second = facts(terminal, "task.started")
    assert (again["cause"], again["why"]) == ("outage", refused["why"])
    assert again["why"].startswith("The vendor's rate limit was reached: API Error")
    assert (first["attempt"], second["attempt"]) == (1, 2)
    assert second.get("notes", []) == []
    assert again["not_before"] > 0
    assert left_running(tmp_path) == []
