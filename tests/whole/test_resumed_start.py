"""A start that is cut off once its issue is open goes on with that issue."""

import re
import shlex
import signal
from pathlib import Path
from uuid import uuid4

import pytest
from filelock import FileLock

from brat.repository.forge_files import forge_in_use
from tests.world.staying import staying, until
from tests.world.terminal import Terminal, left_running
from tests.world.words import BARE, convoy_of, engine, project, status

pytestmark = pytest.mark.timeout(300)

ASKED = ("mayor", "start", "--task", "Spell words")
UNREAD = "issue #1 'Spell words' has not been read yet: no mayor has run since"


def waiting(terminal: Terminal) -> list[tuple[str, int, list[str]]]:
    found = status(terminal)["interventions"]
    return [(each["kind"], each["issue"], each["commands"]) for each in found]


def test_the_same_words_find_the_issue_that_a_killed_start_left(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine("my-agent < $BRAT_PROMPT"))
    terminal.done("brat init")
    lock = terminal.cwd / ".git/brat/bot/lock"
    lock.parent.mkdir()
    with FileLock(lock), staying(terminal, *ASKED) as start:  # its loop cannot tick
        start.says("opened issue #1")
        start.process.kill()
        start.ended()
    until(lambda: not forge_in_use(terminal.cwd / ".git/brat"))

    shown = terminal.type("brat status")
    assert UNREAD in shown.out
    assert "    brat up" in shown.out.splitlines()
    assert "mayor start" not in shown.out + shown.err
    assert waiting(terminal) == [("unread_issue", 1, ["brat up"])]
    witness = terminal.type("brat witness run")
    assert witness.after("next: ") == ["brat up"]

    again = terminal.type(f"brat mayor start --headless --task '{ASKED[-1]}'")

    assert again.status == 0, again.err
    found = "issue #1 has the same text and is still open: continuing with it"
    assert found in again.lines
    assert "opened" not in again.err
    convoy = convoy_of(terminal)
    assert (convoy["issue"], convoy["state"]) == (1, "complete")
    assert waiting(terminal) == []
    assert left_running(terminal.cwd.parent) == []


SLEEPS = re.compile(r"sleep 600\.")
CALLED_OFF = f"""
echo once >> words/turns.txt
test "$(wc -l < words/turns.txt)" -lt 4 || exit 0
git add --all && git commit --quiet --message=Turn
exec sleep 600.{uuid4().int}
"""


@pytest.mark.layer("landing")
def test_a_signal_ends_the_agents_keeps_their_work_and_costs_no_attempt(
    tmp_path: Path,
) -> None:
    terminal = project(tmp_path, engine(CALLED_OFF, "[witness]\nattempts = 1\n"))
    headless = (*ASKED, "--headless")
    for words, number in (
        (headless, signal.SIGTERM),
        (("up", "--no-dashboard"), signal.SIGHUP),
        (("witness", "run"), signal.SIGINT),
    ):
        with staying(terminal, *words) as start:
            until(lambda: any(map(SLEEPS.match, left_running(tmp_path))))
            start.process.send_signal(number)
            start.process.send_signal(number)  # as `timeout` does

            start.says("stopping 1 agent; finished work is kept")
            assert start.ended() == 128 + number
        assert left_running(tmp_path) == []
        states = [task["state"] for task in convoy_of(terminal)["tasks"]]
        assert states == ["queued"]

    terminal.done(shlex.join(("brat", *headless)))

    turns = terminal.done(f"git -C {BARE} show main:words/turns.txt")
    assert turns.split() == ["once"] * 4
