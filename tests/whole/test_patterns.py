"""Patterns end to end: the command, the local forge, real processes as agents."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.world.terminal import Said, Terminal, left_running
from tests.world.words import project

pytestmark = pytest.mark.timeout(600)

CONFIG = """\
[ci]
command = "sh ci.sh"

[engine.default]
type = "shell"
args = ["my-coder"]

[engine.other]
type = "shell"
args = ["my-other"]
"""
WRITES = 'head -n 1 > "step-$BRAT_TASK.txt"; echo "BRAT: done"\n'
"""An agent that writes down the title of what it was asked for."""


def played(folder: Path, default: str = WRITES, other: str = WRITES) -> Terminal:
    """Return a project whose two engines are these scripts; its CI wants no `bad`."""
    terminal = project(folder, CONFIG)
    terminal.commit("Judge", {"ci.sh": "! test -e bad\n"})
    terminal.install("my-coder", f'exec < "$BRAT_PROMPT"\n{default}')
    terminal.install("my-other", f'exec < "$BRAT_PROMPT"\n{other}')
    return terminal


def ended(terminal: Terminal, command: str, state: str = "complete") -> dict[str, Any]:
    """Type a command that runs a convoy; return it, with what landed checked out."""
    said = terminal.type(f"{command} --headless")
    assert left_running(terminal.cwd) == []
    [convoy] = json.loads(terminal.done("brat status --json"))["convoys"]
    assert convoy["state"] == state, said.err
    for pull in said.after("landed; bring it into your checkout with: "):
        terminal.done(pull)
    return dict(convoy)


def titles(convoy: dict[str, Any]) -> list[str]:
    return [task["title"] for task in convoy["tasks"]]


def test_maintenance_does_the_same_in_several_places_at_once(tmp_path: Path) -> None:
    terminal = played(tmp_path)
    convoy = ended(
        terminal,
        'brat workflow run maintenance --task "Tidy up" -v "places=words/, tests/"',
    )

    assert titles(convoy) == ["Tidy up: words/", "Tidy up: tests/"]
    assert [task["after"] for task in convoy["tasks"]] == [[], []]
    assert (terminal.cwd / "step-1.txt").exists()
    assert (terminal.cwd / "step-2.txt").exists()
    assert "Planned 2 tasks (pattern maintenance)." in terminal.done(
        "brat log show -n 200"
    )


def test_patterns_are_listed_shown_and_checked(tmp_path: Path) -> None:
    terminal = played(tmp_path)
    listed = json.loads(terminal.done("brat workflow list --json"))["patterns"]
    by_name = {each["name"]: each for each in listed}
    assert by_name["spec"]["file"] is None
    assert "Spec-driven" in by_name["spec"]["description"]
    assert "spec" in terminal.done("brat workflow list")

    mine = terminal.done("brat workflow show spec").replace("Specify:", "Write down:")
    file = ".brat/workflows/mine.yml"
    terminal.commit("A pattern of our own", {file: mine})
    shown = json.loads(terminal.done("brat workflow show mine --json"))
    assert shown["steps"][0]["title"] == "Write down: {{title}}"

    terminal.commit("Break it", {file: "steps:\n  - id: a\n    titel: b\n"})
    said = terminal.type("brat workflow list")
    assert said.status == 1
    assert f'{file}: line 3: unknown key "titel"' in said.err
    assert "did you mean title?" in said.err


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("run sepc --task x", "did you mean spec?"),
        ("run spec --task x", "the pattern spec needs file=…"),
        ("run spec --task x -v file", '"file" is no input: write -v name=value'),
        ("run spec --task x -v file=a -v tester=x", 'there is no engine "x"'),
        ("show sepc", "did you mean spec?"),
    ],
)
def test_what_cannot_be_run_is_told_before_anything_begins(
    tmp_path: Path, line: str, told: str
) -> None:
    terminal = played(tmp_path)
    said: Said = terminal.type(f"brat workflow {line}")

    assert said.status == 1
    assert told in said.err
    assert not (terminal.cwd / ".git/brat").exists()
