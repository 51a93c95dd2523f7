"""What the remote refuses keeps nothing else waiting, as people see it."""

import json
from pathlib import Path
from stat import S_IRWXU

import pytest

from brat.repository import registration as registrations
from tests.world.terminal import Terminal
from tests.world.words import engine, project

pytestmark = pytest.mark.timeout(600)

OWN_FILE = """name=$(head -n 1 "$BRAT_PROMPT" | tr -cd a-zA-Z)
echo "ASKED = 1" > "words/$name.py"
"""
SHELL = engine(OWN_FILE)
FIRST, SECOND = "spell-words-1", "count-lines-2"


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    made = project(tmp_path, SHELL)
    made.done("brat init")
    return made


def hook(terminal: Terminal, name: str, script: str) -> Path:
    """Let a hook of the remote's refuse something."""
    folder = terminal.cwd / ".git/brat"
    bare = registrations.bare_path(folder, registrations.read(folder))
    file = bare / "hooks" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(S_IRWXU)
    return file


def states(terminal: Terminal) -> dict[str, str]:
    listed = json.loads(terminal.type("brat convoy list --json").out)["convoys"]
    return {convoy["name"]: convoy["state"] for convoy in listed}


@pytest.mark.parametrize(
    ("name", "script"),
    [
        ("update", f"case $1 in */{FIRST}/task-1) echo 'a rule'; exit 1; esac"),
        ("update", f"case $1 in */{FIRST}/base) echo 'a rule'; exit 1; esac"),
        ("pre-receive", f"! grep -q /{FIRST}/task-1 || (echo 'a rule'; exit 1)"),
    ],
)
def test_one_convoy_waits_for_the_remote_and_the_other_lands(
    terminal: Terminal, name: str, script: str
) -> None:
    refusing = hook(terminal, name, script)
    terminal.type("brat mayor start --task 'Spell words'")
    said = terminal.type("brat mayor start --task 'Count lines' --headless")
    waits = json.loads(terminal.type("brat status --json").out)["interventions"]
    doctor = terminal.type("brat doctor")
    (aside,) = [each for each in waits if each["kind"] == "set_aside"]

    assert states(terminal)[SECOND] == "complete", said.err
    assert states(terminal)[FIRST] != "complete"
    assert aside["convoy"] == FIRST
    assert "a rule" in aside["why"]
    assert f"is set aside: {aside['why'][:40]}" in said.err

    assert doctor.status == 1
    assert "a rule" in doctor.out + doctor.err

    refusing.unlink()
    terminal.done(aside["commands"][0])
    terminal.done("brat mayor start --task 'Count words again' --headless")

    assert set(states(terminal).values()) == {"complete"}
