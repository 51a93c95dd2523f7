"""Tasks that change the same lines all land: their agents make the conflict whole."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from msgspec import json

from tests.world.seen import look
from tests.world.terminal import Terminal
from tests.world.words import NO_BOX, engine, project

pytestmark = pytest.mark.timeout(600)
ADDING = """
cp "$BRAT_PROMPT" "{kept}/$BRAT_TASK-$BRAT_ATTEMPT"
if grep -q '^<<<<<<<' LIST; then
    {resolve}
else
    echo "line of task $BRAT_TASK" >> LIST
fi
"""
BOTH = "sed -i '/^<<<<<<< /d; /^=======$/d; /^>>>>>>> /d' LIST"


def listing(
    folder: Path, resolve: str, tasks: int = 2, attributes: str = ""
) -> dict[str, Any]:
    """Run tasks that each add a line to one list at once; return the convoy at its end.

    An agent meets a conflict with `resolve`, a line of shell.
    """
    kept = folder / "prompts"
    kept.mkdir()
    terminal = project(folder, engine("adder", "[witness]\nattempts = 6\n" + NO_BOX))
    terminal.install("adder", ADDING.format(kept=kept, resolve=resolve))
    terminal.commit("Begin", {"LIST": "begun\n", ".gitattributes": attributes})
    terminal.done("brat init")
    plan = "".join(f"- [ ] Add line {n}\n" for n in range(1, tasks + 1))
    terminal.done(f"brat mayor start --task {shlex.quote(f'Lines{chr(10) * 2}{plan}')}")
    for _ in range(6):
        terminal.done("brat witness run")
        terminal.done("brat refinery run")
        (convoy,) = status(terminal)["convoys"]
        if convoy["state"] == "complete":
            found: dict[str, Any] = convoy
            return found
    raise AssertionError(terminal.type("brat status").out)


def status(terminal: Terminal) -> dict[str, Any]:
    found: dict[str, Any] = json.decode(terminal.type("brat status --json").out)
    return found


def whole_list(folder: Path) -> list[str]:
    (repository,) = folder.rglob(".git/brat")
    return sorted(look(repository).git("show", "main:LIST").splitlines())


@pytest.mark.layer("landing")
def test_an_agent_makes_its_own_work_fit_what_landed_and_is_told_both_sides(
    tmp_path: Path,
) -> None:
    convoy = listing(tmp_path, BOTH)

    assert whole_list(tmp_path) == ["begun", "line of task 1", "line of task 2"]
    assert sorted(task["attempts"] for task in convoy["tasks"]) == [1, 2]
    (again,) = (tmp_path / "prompts").glob("*-2")
    told = again.read_text()
    other = 3 - int(again.name[0])
    assert "conflicts with what has landed" in told
    assert f"Task {other} had these instructions:\n\nAdd line {other}" in told
    assert f"+line of task {other}\n" in told
    assert f"+line of task {again.name[0]}\n" in told
    (repository,) = tmp_path.rglob(".git/brat")
    history = look(repository).git("log", "-p", "main")
    assert "<<<<<<<" not in history
