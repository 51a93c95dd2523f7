"""A command speaks of its own convoy, in a line of others, and says what is next."""

import json
from pathlib import Path

import pytest

from tests.world.terminal import Terminal
from tests.world.words import engine, project

pytestmark = pytest.mark.timeout(300)
AGENT = """
test -f ready || { echo "there is nothing to begin with"; exit 3; }
echo hi > said.txt
"""
CONFIG = '[witness]\nattempts = 1\n[ci]\ncommand = "true"\n'
START = "brat mayor start --headless --timeout 30m --task"


def shows_how_sessions_ended(terminal: Terminal) -> None:
    tell = terminal.done
    landed = tell("brat session show a-greeting-2/1/1")
    assert "outcome        landed at " in landed
    assert "judged by      " in landed
    refused = tell("brat session show say-ho-1/1/1").splitlines()
    [at] = [n for n, line in enumerate(refused) if line.startswith("output ")]
    assert refused[at] == "output         last lines:"
    assert any("there is nothing to begin with" in line for line in refused[at:])
    told = json.loads(tell("brat session show say-ho-1/1/1 --json"))["session"]
    assert (told["how"], told["attempt"], told["convoy"]) == ("refused", 1, "say-ho-1")
    assert "there is nothing to begin with" in told["output"]
    none = terminal.type("brat session show say-ho-1/1/2")
    assert (none.status, "did you mean say-ho-1/1/1?" in none.err) == (1, True)


def test_what_waits_elsewhere_is_one_line(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine(AGENT, CONFIG))
    first = terminal.type(f"{START} 'Say ho'")
    assert first.status == 1
    assert "say-ho-1: task 1 is blocked: " in first.err
    terminal.commit("Be ready", {"ready": ""})

    unnamed = terminal.type(f"{START} 'Say hi' --title ' '")
    second = terminal.type(f"{START} 'Say hi' --title 'A greeting'")

    assert (unnamed.status, unnamed.lines[-1]) == (
        *(2, "brat: --title must be one line of 1 to 256 characters"),
    )
    assert second.status == 0, second.err
    assert "a-greeting-" in second.err
    assert "task 1 is blocked: " not in second.err
    [line] = [line for line in second.lines if "say-ho-1 also needs you" in line]
    assert line == "say-ho-1 also needs you (blocked: task 1): brat status shows why"

    tell = terminal.done
    assert "attempt 1 by shell began at " in tell("brat why 1 --convoy say-ho-1")
    assert ": it landed at " in tell("brat why 1 --convoy a-greeting-2")
    assert "it is complete, 1 of 1 tasks merged" in tell("brat why a-greeting-2")
    listed = tell("brat session list --all")
    assert "a-greeting-2/1/1" in listed
    assert "say-ho-1/1/1" in listed
    assert "no sessions" in terminal.type("brat session list").err
    shows_how_sessions_ended(terminal)
    alone = terminal.type("brat session list --convoy say-ho-1")
    assert alone.status == 2


@pytest.mark.layer("landing")
def test_a_decision_is_confirmed_and_what_waited_before_is_one_line(
    tmp_path: Path,
) -> None:
    terminal = project(tmp_path, engine(AGENT, CONFIG))
    three = "- [ ] Say one\n- [ ] Say two\n- [ ] Say three\n"

    first = terminal.type(f"{START} '{three}'")
    retried = terminal.type("brat retry 2")

    assert first.err.count(" is blocked: The ") == 1, "for the same reason"
    assert "  the same for tasks 2, 3; to retry all that is blocked: brat " in first.err
    assert "\n    the same for task 3; to " in terminal.type("brat status").out
    assert retried.lines == [
        "carried out: retry task 2 of say-one-1",
        "say-one-1 still needs you (blocked: tasks 1, 3): brat status shows why",
        "next: brat up",
    ]
    assert "(attempt 2)" in terminal.type("brat witness run").err
    why = terminal.done("brat why 2").splitlines()
    assert why[-3:-1] == [
        "to try it again: brat retry 2",
        "to continue without it: brat drop 2",
    ]
    paused = terminal.type("brat pause")
    assert paused.lines[:3] == [
        "carried out: pause say-one-1",
        "say-one-1 is paused: a person paused it",
        "  to go on: brat resume say-one-1",
    ]
