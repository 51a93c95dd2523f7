"""What lands was judged and holds all that came meanwhile, conflicts and all."""

import shlex
from pathlib import Path

import pytest

from tests.world.seen import Seen, look
from tests.world.terminal import Terminal
from tests.world.words import NO_BOX, convoy_of, engine, project

pytestmark = pytest.mark.timeout(600)


def seen_of(terminal: Terminal) -> Seen:
    return look(terminal.cwd / ".git/brat")


def planned(terminal: Terminal, task: str) -> None:
    terminal.done("brat init")
    terminal.done(f"brat mayor start --task {shlex.quote(task)}")


def taking_turns(terminal: Terminal, times: int = 1) -> None:
    """Let agents and the refinery take turns, until the convoy has ended at most."""
    for _ in range(times):
        terminal.done("brat witness run")
        terminal.done("brat refinery run")
        if convoy_of(terminal)["state"] == "complete":
            return
    assert times == 1, terminal.type("brat status").out


BOTH = "sed -i '/^<<<<<<< /d; /^=======$/d; /^>>>>>>> /d' LIST"
ADDING = f"""
cp "$BRAT_PROMPT" "{{kept}}/$BRAT_TASK-$BRAT_ATTEMPT"
if grep -q '^<<<<<<<' LIST; then
    {BOTH}
else
    echo "line of task $BRAT_TASK" >> LIST
fi
"""
"""Keeps both sides of a conflict; else adds its line to the list."""


def listing(folder: Path, more: str, task: str) -> Terminal:
    """Make a project whose agents each add to one list, and plan a convoy in it."""
    kept = folder / "prompts"
    kept.mkdir()
    terminal = project(folder, engine("adder", more + NO_BOX))
    terminal.install("adder", ADDING.format(kept=kept))
    terminal.commit("Begin", {"LIST": "begun\n"})
    planned(terminal, task)
    return terminal


def lines_of(seen: Seen) -> list[str]:
    return sorted(seen.git("show", "main:LIST").splitlines())


def test_an_agent_makes_its_own_work_fit_what_landed_and_is_told_both_sides(
    tmp_path: Path,
) -> None:
    task = "Lines\n\n- [ ] Add line 1\n- [ ] Add line 2\n"
    terminal = listing(tmp_path, "[witness]\nattempts = 6\n", task)

    taking_turns(terminal, 6)

    convoy, seen = convoy_of(terminal), seen_of(terminal)
    assert lines_of(seen) == ["begun", "line of task 1", "line of task 2"]
    assert sorted(task["attempts"] for task in convoy["tasks"]) == [1, 2]
    (again,) = (tmp_path / "prompts").glob("*-2")
    told = again.read_text()
    other = 3 - int(again.name[0])
    assert "conflicts with what has landed" in told
    assert f"Task {other} had these instructions:\n\nAdd line {other}" in told
    assert f"+line of task {other}\n" in told
    assert f"+line of task {again.name[0]}\n" in told
    assert "<<<<<<<" not in seen.git("log", "-p", "main")
