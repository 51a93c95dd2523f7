"""`brat mayor ask`: an engine answers, and nothing is changed."""

from pathlib import Path

import pytest

from tests.world.terminal import Terminal, contents, left_running
from tests.world.words import engine, project

pytestmark = pytest.mark.timeout(300)

AGENT = r"""
# Says what it was asked and told, and tries to change the project.
asked=$(grep '^How many' "$BRAT_PROMPT")
log='"name": "spell-words-1"\|There is no log here yet'
log=$(grep -o "$log" "$BRAT_PROMPT" | head -n 1)
echo changed > words/count.py
echo "$asked $log $(git remote)"
"""


def asked(terminal: Terminal) -> str:
    terminal.install("my-answer", AGENT)
    return terminal.done("brat mayor ask 'How many words are there?'")


def test_it_is_answered_before_there_is_a_log(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine("exec my-answer"))
    before = contents(terminal.cwd)
    said = asked(terminal)

    assert said == "How many words are there? There is no log here yet"
    assert contents(terminal.cwd) == before
    assert left_running(tmp_path) == []


@pytest.mark.layer("landing")
def test_it_knows_the_convoys_and_changes_nothing(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine("exec my-answer"))
    terminal.done("brat init")
    terminal.done("brat mayor start --task 'Spell words'")
    before = contents(terminal.cwd)
    said = asked(terminal)

    assert said == 'How many words are there? "name": "spell-words-1"'
    assert contents(terminal.cwd) == before


def test_an_engine_that_does_not_answer_is_one_sentence(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine("exit 3"))
    said = terminal.type("brat mayor ask 'How many words are there?'")
    other = terminal.type("brat mayor ask Why --engine defualt")

    assert said.status == 1
    assert "brat: the engine default gave no answer" in said.err
    assert "there is no engine defualt; there are default; did you mean" in other.err
