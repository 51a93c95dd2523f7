"""What one agent notes reaches the next, and what it saw besides can be added."""

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
    echo "BRAT: followup Spell the numbers"
fi
echo "BRAT: done It is spelt."
"""
TASKS = "Add two modules\n\n- [ ] Spell words\n- [ ] Spell them backwards (after 1)\n"
START = f'brat mayor start --task "{TASKS}" --headless'


@pytest.mark.layer("landing")
def test_notes_and_further_work_go_from_agent_to_agent(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine(AGENT))
    said = terminal.type(START)

    assert said.status == 0, said.err
    (pull,) = said.after("landed; bring it into your checkout with: ")
    terminal.done(pull)
    first, second = ((terminal.cwd / f"prompt_{n}.md").read_text() for n in (1, 2))
    assert "ASKED" not in first
    assert "1. task 1 (Spell words) changed " in second
    assert "2. task 1 (Spell words): the words are in ASKED\n" in second
    assert "1. task 1: tests need no network\n" in second
    log = terminal.done("brat log show")
    assert "noted: 1 for the tasks behind it, 1 for the scratchpad, 1 on" in log
    assert left_running(tmp_path) == []


def test_what_an_agent_saw_is_shown_and_added_by_its_command(tmp_path: Path) -> None:
    fails = AGENT + "[ $BRAT_TASK != 2 ] || exit 3\n"
    terminal = project(tmp_path, engine(fails, "[witness]\nattempts = 1\n"))
    terminal.type(START)

    shown = terminal.type("brat status").out
    (command,) = (
        line.strip() for line in shown.splitlines() if "brat task add" in line
    )
    added = terminal.type(command)

    assert added.status == 0, added.err
    assert "Spell the numbers" in terminal.done("brat task show 3")
    assert "brat task add" not in terminal.type("brat status").out
