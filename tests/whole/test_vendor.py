"""What the model's vendor does to a convoy."""

from pathlib import Path

import pytest

from tests.runner.engines.hearing import SAMPLES
from tests.world.terminal import left_running
from tests.world.words import NO_BOX, facts, project

pytestmark = pytest.mark.timeout(600)

CONFIG = '[engine.default]\ntype = "claude-code"\n\n[witness]\nattempts = 1\n' + NO_BOX
KEY = "ANTHROPIC_API_KEY=made-up-key-0123456789"
LIMITED_ONCE = """\
if mkdir '{met}' 2> /dev/null; then cat '{limited}'; exit 1; fi
my-agent < "$BRAT_PROMPT"
cat '{done}'
"""


@pytest.mark.layer("landing")
def test_a_rate_limit_costs_the_task_some_time_and_not_its_only_attempt(
    tmp_path: Path,
) -> None:
    terminal = project(tmp_path, CONFIG)
    limited, done = (SAMPLES / f"claude-{name}.stdout" for name in ("b429", "ok"))
    met = terminal.home / "met"
    terminal.install("claude", LIMITED_ONCE.format(met=met, limited=limited, done=done))

    start = "brat mayor start --task 'Spell words' --headless"
    said = terminal.type(f"env {KEY} {start}")

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
