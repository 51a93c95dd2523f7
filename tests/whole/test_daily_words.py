"""The words of every day: run, diff, pull, and deciding without a name."""

from pathlib import Path

import pytest

from brat.commands.start_convoy import text_of
from grite.errors import BratError
from tests.world.terminal import left_running
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
    assert terminal.done("brat diff 2 --stat").endswith(
        "2 files changed, 6 insertions(+)"
    )
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

    at = lines.index("spell-all-words-1 is active")
    assert lines[at + 1].startswith(
        "  warning: the engine default did not make a plan: "
    )


def test_what_alone_waits_needs_no_name(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine("true", '[mayor]\napprove = "plan"\n'))
    terminal.done("brat mayor start --plan-only --task 'Spell words'")
    ran = terminal.type("brat run 'Count words'")
    last = "nothing starts until you run: brat approve count-words-2"
    assert (ran.status, ran.lines[-1], "/brat" in ran.out) == (1, last, False)

    two = terminal.type("brat approve")
    assert two.status == 1
    assert "choose one: brat approve spell-words-1; brat approve count-words-2" in (
        two.err
    )
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
    for text in (
        *("@types/node is old", f"@ann {'please ' * 99}", f"@ann,{'please,' * 99}"),
    ):
        assert text_of(text) == text
    with pytest.raises(BratError, match="none cannot be read: No such file"):
        text_of("@none")
    with pytest.raises(BratError, match=f"{__file__} is a file: write @{__file__} for"):
        text_of(__file__)
