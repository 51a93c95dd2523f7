"""What a headless run, `brat status` and `brat doctor` say of a ref that is refused.

Every kind of ref is refused in test_refusal_sweep.py.
"""

import json
from pathlib import Path

import pytest

from tests.world.extended import extended, faults
from tests.world.forge_rules import put_hook
from tests.world.local_rules import bare_of
from tests.world.terminal import Terminal
from tests.world.words import engine, project, status

pytestmark = pytest.mark.timeout(600)

OWN_FILE = """name=$(head -n 1 "$BRAT_PROMPT" | tr -cd a-zA-Z)
echo "ASKED = 1" > "words/$name.py"
"""
SHELL = engine(OWN_FILE)
FIRST, SECOND = "spell-words-1", "count-lines-2"


def states(terminal: Terminal) -> dict[str, str]:
    listed = json.loads(terminal.type("brat convoy list --json").out)["convoys"]
    return {convoy["name"]: convoy["state"] for convoy in listed}


def test_one_convoy_waits_for_the_remote_and_the_other_lands(tmp_path: Path) -> None:
    terminal = project(tmp_path, SHELL)
    terminal.done("brat init")
    script = f"case $1 in */{FIRST}/task-1) echo 'a rule'; exit 1; esac"
    refusing = put_hook(bare_of(terminal), "update", script)
    terminal.type("brat mayor start --task 'Spell words'")
    said = terminal.type("brat mayor start --task 'Count lines' --headless")
    waits = status(terminal)["interventions"]
    doctor = terminal.type("brat doctor")
    first = terminal.type("brat deacon run")
    (aside,) = [each for each in waits if each["kind"] == "set_aside"]

    assert states(terminal)[SECOND] == "complete", said.err
    assert states(terminal)[FIRST] != "complete"
    assert aside["convoy"] == FIRST
    assert "a rule" in aside["why"]
    assert said.err.count("is set aside: ") == 1, "it was told again at the end"
    assert said.after("next: ") == first.after("next: ") == [], "it was just refused"
    line = f"{FIRST} also needs you (set aside: task 1): brat status shows why"
    assert said.lines.count(line) == 1, said.err
    assert said.status == 0
    assert f"is set aside: {aside['why'][:40]}" in first.err

    assert doctor.status == 1
    assert "a rule" in doctor.out + doctor.err

    refusing.unlink()
    terminal.done(aside["commands"][0])
    terminal.done("brat mayor start --task 'Count words again' --headless")

    assert set(states(terminal).values()) == {"complete"}


# --- writes ---------------------------------------------------------------------------


START = "brat mayor start --task 'Spell words'"
SAID = "Issues are disabled for this repo"


def test_what_the_forge_says_is_said_and_what_is_lifted_is_done(tmp_path: Path) -> None:
    terminal = extended(project(tmp_path, engine("echo hi > hi.txt")))
    terminal.done("brat init")
    faults(terminal).refuse("POST", "/repos/[^/]+/[^/]+/issues", 410, SAID)

    refused = terminal.type(START)
    assert refused.status == 1
    assert SAID in refused.err

    faults(terminal).lift()
    terminal.done(START)
    assert len(faults(terminal).refused()) == 1
