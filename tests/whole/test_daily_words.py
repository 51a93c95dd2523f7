"""The words of every day: run, diff, pull, and deciding without a name."""

import json
from pathlib import Path

import pytest

from brat.commands.start_convoy import text_of
from grite.errors import BratError
from tests.world.terminal import Terminal, left_running
from tests.world.words import engine, project

pytestmark = [pytest.mark.timeout(300), pytest.mark.layer("landing")]

TWO = "- [ ] Spell words paths: words/\n- [ ] Spell more (after 1)\n"
HOSTILE = (
    "printf 'x = 1  # \\033]0;owned\\007' > words/hostile.py; my-agent < $BRAT_PROMPT"
)


def test_a_list_is_run_looked_at_and_taken(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine(HOSTILE))
    (tmp_path / "list.md").write_text(TWO)

    ran = terminal.type("brat run @../list.md")

    assert ran.status == 0, ran.err
    end = "to see the changes: brat diff"
    (told,) = (line for line in ran.lines if line.endswith(end))
    assert told.startswith("5 files changed, ")
    assert "work landed; bring it into your checkout with: brat pull" in ran.lines
    assert not [line for line in ran.lines if line.startswith("next: ")]
    whole, first = terminal.done("brat diff"), terminal.done("brat diff 1")
    assert whole.count("diff --git ") == 5
    assert first.count("diff --git ") == 3
    assert "words/task_2.py" not in first
    second = terminal.done("brat diff 2 --stat")
    assert second.endswith("2 files changed, 6 insertions(+)")
    seen = terminal.done("env PAGER=cat script -qec 'brat diff 1' /dev/null")
    assert "\x1b]0;owned" not in seen
    assert "+x = 1  # " in seen
    no_task = terminal.type("brat diff 7")
    assert (no_task.status, no_task.out) == (1, "")

    assert not (terminal.cwd / "words/task_2.py").exists()
    assert "$ git pull --ff-only " in terminal.type("brat pull").err
    assert (terminal.cwd / "words/task_2.py").exists()
    assert "main already has everything that landed" in terminal.type("brat pull").err
    (tmp_path / "whole.patch").write_text(f"{whole}\n")
    terminal.done("git apply --check --reverse -- ../whole.patch")
    assert left_running(tmp_path) == []


def test_a_plan_that_is_not_what_was_asked_for_is_told(tmp_path: Path) -> None:
    planned = '[mayor]\nengine = "default"\n[witness]\nattempts = 1\n'
    terminal = project(tmp_path, engine("my-agent < $BRAT_PROMPT", planned))

    lines = terminal.type("brat run 'Spell all words'").lines

    warning = "  warning: the engine default did not make a plan: "
    assert lines[lines.index("spell-all-words-1 is active") + 1].startswith(warning)


def test_what_alone_waits_needs_no_name(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine("true", '[mayor]\napprove = "plan"\n'))
    terminal.done("brat mayor start --plan-only --task 'Spell words'")
    ran = terminal.type("brat run 'Count words'")
    last = "nothing starts until you run: brat approve count-words-2"
    assert (ran.status, ran.lines[-1], "/brat" in ran.out) == (1, last, False)

    two = terminal.type("brat approve")
    assert two.status == 1
    both = "choose one: brat approve spell-words-1; brat approve count-words-2"
    assert both in two.err
    terminal.done("brat cancel count-words-2")
    terminal.done("brat approve")
    none = terminal.type("brat approve")
    assert "there is nothing to approve; see: brat" in none.err


def test_help_and_version_are_words_too(tmp_path: Path) -> None:
    terminal = project(tmp_path, None)

    for asked in ("brat help task retry", "brat task retry -h"):
        assert terminal.done(asked) == terminal.done("brat task retry --help")
    assert terminal.done("brat version") == terminal.done("brat --version")


def test_a_file_that_is_named_is_read_and_no_other_text_is_taken_for_one(
    tmp_path: Path,
) -> None:
    (tmp_path / "plan").write_text("Two\nneeds more words\n")
    assert text_of("- [ ] One", f"@{tmp_path / 'plan'}", "Three") == (
        "- [ ] One\n- [ ] Two\n  needs more words\n- [ ] Three"
    )
    for again in ("@types/node is old", "@ann" + " please" * 99, "@ann" + ",do" * 99):
        assert text_of(again) == again
    with pytest.raises(BratError, match="none cannot be read: No such file"):
        text_of("@none")
    with pytest.raises(BratError, match=f"{__file__} is a file: write @{__file__} for"):
        text_of(__file__)


# --- a command speaks of its own convoy, in a line of others --------------------------


HASTY = """
test -f ready || { echo "there is nothing to begin with"; exit 3; }
echo hi > said.txt
"""
ONE_TRY = '[witness]\nattempts = 1\n[ci]\ncommand = "true"\n'
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


@pytest.mark.layer("deep")
def test_what_waits_elsewhere_is_one_line(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine(HASTY, ONE_TRY))
    first = terminal.type(f"{START} 'Say ho'")
    assert first.status == 1
    assert "say-ho-1: task 1 is blocked: " in first.err
    terminal.commit("Be ready", {"ready": ""})

    second = terminal.type(f"{START} 'Say hi' --title 'A greeting'")

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


def test_a_decision_is_confirmed_and_what_waited_before_is_one_line(
    tmp_path: Path,
) -> None:
    terminal = project(tmp_path, engine(HASTY, ONE_TRY))
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
