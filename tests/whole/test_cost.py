"""What sessions used is known wherever people look: real runner, scripted engine."""

import json

import pytest

from tests.world.terminal import Terminal
from tests.world.words import project

pytestmark = pytest.mark.timeout(600)

CONFIG = """\
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
    terminal = project(tmp_path_factory.mktemp("cost"), CONFIG)
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
    status = json.loads(terminal.done("brat status --json"))
    assert status["convoys"][0]["usage"] == TWO_ATTEMPTS


def test_people_read_it_in_words(terminal: Terminal) -> None:
    words = "4,000 tokens in (800 cached), 200 out, $0.0092"

    assert words in terminal.done("env COLUMNS=160 brat cost --convoy say-hi-1")
    assert words in terminal.done("brat task show 1")
