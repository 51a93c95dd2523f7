"""Sessions of a local convoy run from the real workflow file, by act."""

import time
from pathlib import Path

import pytest
from msgspec import json

from tests.world.act.extension import with_act
from tests.world.patience import patient
from tests.world.seen import look
from tests.world.staying import typed
from tests.world.terminal import Terminal, left_running
from tests.world.waiting import texts
from tests.world.words import engine, project

DEADLINE_S = patient(90)
LOOK_S = 0.2
KEY = "made-up-key-of-a-model-0123456789"
AGENT = """
cp words/count.py words/spell.py
echo "The key is $ANTHROPIC_API_KEY, ::warning::$ANTHROPIC_API_KEY"
echo "BRAT: done. The key is $ANTHROPIC_API_KEY."
"""
CONFIG = '[witness]\nattempts = 1\n[ci]\ncommand = "python -m pytest -q"\n'
LOOP = "on: workflow_dispatch\njobs: {}\n"


def ended(terminal: Terminal) -> str:
    """Wait until the one convoy has ended or needs somebody; return its state."""
    until = time.monotonic() + DEADLINE_S
    while time.monotonic() < until:
        (convoy,) = json.decode(terminal.done("brat status --json"))["convoys"]
        if convoy["state"] != "active" or convoy["tasks"][0]["state"] == "blocked":
            return str(convoy["state"])
        time.sleep(LOOK_S)
    raise AssertionError("it took too long")


@pytest.mark.needs("act", "node")
@pytest.mark.timeout(240)
def test_sessions_run_from_the_workflow_file_by_act(tmp_path: Path) -> None:
    config = 'secret = "ANTHROPIC_API_KEY"\n' + CONFIG
    terminal = with_act(project(tmp_path, engine(AGENT, config)))
    terminal.commit("Adopt", {".github/workflows/brat.yml": LOOP})  # left to the bot
    terminal.done("brat init")
    terminal.done("brat mayor start --task 'Spell words'")

    with typed(terminal, "up", "--no-dashboard", ANTHROPIC_API_KEY=KEY) as up:
        state = ended(terminal)
    assert up.returncode is not None

    folder = terminal.cwd / ".git/brat"
    (log,) = folder.glob("forge/runs/*/log.txt")
    said = log.read_text()
    assert state == "complete", said
    for step in ("Install brat", "Run the session", "Hand over the result"):
        assert f"Success - Main {step}" in said
    seen = look(folder)
    assert [pull["merged"] for pull in seen.pulls] == [True, True]
    assert "words/spell.py" in seen.git("ls-tree", "-r", "--name-only", "main")
    assert left_running(tmp_path) == []
    assert "The key is ***" in said
    assert keeping(folder, KEY) == []
    assert KEY not in terminal.done("brat log export")


def keeping(folder: Path, secret: str) -> list[str]:
    return [
        str(file.relative_to(folder))
        for file, text in texts(folder)
        if secret.encode() in text
    ]
