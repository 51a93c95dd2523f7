"""What one agent notes reaches the next."""

from pathlib import Path

import pytest

from tests.world.terminal import left_running
from tests.world.words import engine, project

pytestmark = pytest.mark.timeout(600)

AGENT = """
my-agent < $BRAT_PROMPT
cp $BRAT_PROMPT prompt_$BRAT_TASK.md
if [ $BRAT_TASK = 1 ]; then
    echo "BRAT: note the words are in ASKED"
    echo "BRAT: share tests need no network"
fi
echo "BRAT: done It is spelt."
"""
TASKS = "Add two modules\n\n- [ ] Spell words\n- [ ] Spell them backwards (after 1)\n"
START = f'brat mayor start --task "{TASKS}" --headless'


@pytest.mark.layer("landing")
def test_notes_go_from_agent_to_agent(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine(AGENT))
    said = terminal.type(START)

    assert said.status == 0, said.err
    (pull,) = said.after("work landed; bring it into your checkout with: ")
    terminal.done(pull)
    first, second = ((terminal.cwd / f"prompt_{n}.md").read_text() for n in (1, 2))
    assert "ASKED" not in first
    assert "1. task 1 (Spell words) changed " in second
    assert "2. task 1 (Spell words): the words are in ASKED\n" in second
    assert "1. task 1: tests need no network\n" in second
    log = terminal.done("brat log show")
    assert "left notes: 1 for the tasks that build on it, 1 for the scratchpad." in log
    assert left_running(tmp_path) == []
