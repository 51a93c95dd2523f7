"""What the model's vendor does to a convoy, and what it costs: wherever people look."""

import json
from pathlib import Path

import pytest

from tests.runner.engines.hearing import SAMPLES
from tests.world.terminal import Terminal, left_running
from tests.world.words import NO_BOX, facts, project, status

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


# --- what sessions used ---------------------------------------------------------------


PRICED = """\
[engine.default]
type = "codex"
price = { input = 2.0, cached = 1.0, output = 10.0 }

[ci]
command = "true"
"""
CODEX = """
cat > /dev/null
echo '{"type":"thread.started","thread_id":"one"}'
echo '{"type":"turn.completed","usage":{"input_tokens":2000,"cached_input_tokens":400,\
"output_tokens":100}}'
[ "$BRAT_ATTEMPT" = 1 ] && exit 3
echo hi > said.txt
"""
ASK = "brat mayor start --task 'Say hi' --headless"
TWO_ATTEMPTS = {
    "input_tokens": 3200,
    "cached_tokens": 800,
    "output_tokens": 200,
    "unpriced_tokens": 0,
    "usd": 0.0092,
}


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """A convoy of one task, which took two attempts."""
    terminal = project(tmp_path_factory.mktemp("cost"), PRICED)
    terminal.install("codex", CODEX)
    said = terminal.type(f"env OPENAI_API_KEY=made-up-0123456789 {ASK}")
    assert said.status == 0, said.err
    return terminal


def test_a_failed_attempt_costs_as_much_as_one_that_landed(terminal: Terminal) -> None:
    whole = json.loads(terminal.done("brat cost --json"))

    [convoy] = whole["convoys"]
    [task] = convoy["tasks"]
    assert (task["attempts"], task["usage"]) == (2, TWO_ATTEMPTS)
    assert convoy["usage"] == TWO_ATTEMPTS
    assert status(terminal)["convoys"][0]["usage"] == TWO_ATTEMPTS
