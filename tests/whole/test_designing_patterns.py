"""Patterns that design or read before they build, on the local forge."""

import json
from pathlib import Path

import pytest

from tests.whole.test_patterns import ended, played, report, said_on, titles

pytestmark = pytest.mark.timeout(600)


def test_a_specification_comes_first_then_the_code_then_its_tests(
    tmp_path: Path,
) -> None:
    default = (
        'asked=$(cat); case "$asked" in\n'
        "*'Do not write code.'*) mkdir docs; echo '1. It says hi.' > docs/hi.md;;\n"
        "*'is in docs/hi.md. Write the code'*)\n"
        "    grep -q '1. It says hi' docs/hi.md; echo 'echo hi' > hi.sh;;\n"
        "esac\necho 'BRAT: done'\n"
    )
    tester = (
        'asked=$(cat); case "$asked" in\n'
        "*'check every numbered rule'*)\n"
        "    grep -q '^1' docs/hi.md; echo 'test $(sh hi.sh) = hi' > check.sh;;\n"
        "esac\necho 'BRAT: done'\n"
    )
    terminal = played(tmp_path, default, tester)
    terminal.commit("Judge by tests", {"ci.sh": "! test -e check.sh || sh check.sh\n"})
    convoy = ended(
        terminal, 'brat workflow run spec --task "Say hi" -v file=docs/hi.md'
    )

    assert [task["after"] for task in convoy["tasks"]] == [[], [1], [2]]
    assert [task["engine"] for task in convoy["tasks"]] == ["default"] * 2 + ["other"]
    assert titles(convoy)[0] == "Specify: Say hi"
    for name in ("docs/hi.md", "hi.sh", "check.sh"):
        assert (terminal.cwd / name).exists()
    assert terminal.done("sh check.sh") == ""


def test_builders_work_side_by_side_by_the_architects_design(tmp_path: Path) -> None:
    agent = (
        'asked=$(cat); case "$asked" in\n'
        f"*'Design this; write no code.'*) touch bad; {report('The word is ahoy.')};;\n"
        "*'Build one part of this: api.'*'The word is ahoy.'*) echo ahoy > api.txt;;\n"
        "*'Build one part of this: ui.'*'The word is ahoy.'*) echo ahoy > ui.txt;;\n"
        "esac\necho 'BRAT: done'\n"
    )
    terminal = played(tmp_path, agent)
    convoy = ended(
        terminal, 'brat workflow run architect-builder --task "Greet" -v parts=api,ui'
    )

    assert titles(convoy) == ["Design: Greet", "Build api: Greet", "Build ui: Greet"]
    assert [task["after"] for task in convoy["tasks"]] == [[], [1], [1]]
    assert [task["attempts"] for task in convoy["tasks"]] == [1, 1, 1]
    assert convoy["tasks"][0]["landed_commit"] is None
    built = [(terminal.cwd / name).read_text() for name in ("api.txt", "ui.txt")]
    assert built == ["ahoy\n", "ahoy\n"]
    assert not (terminal.cwd / "bad").exists()


def test_a_system_is_read_in_parts_and_explained_in_one_report(tmp_path: Path) -> None:
    lost, found = (
        json.dumps({"summary": part, "findings": [{"title": "It", "paths": [path]}]})
        for part, path in (("Words.", "words/gone.py"), ("Words.", "words/count.py"))
    )
    agent = (
        'asked=$(cat); case "$asked" in\n'
        f"*'# Task 1 of'*'attempt 1'*) echo '{lost}' > answer.json;;\n"
        f"*'# Task 1 of'*'words/gone.py'*) echo '{found}' > answer.json;;\n"
        f"*'Read one part of the system: tests/'*) touch bad; {report('Tests.')};;\n"
        f"*'reports: Words.'*'reports: Tests.'*) {report('Tests count words.')};;\n"
        "esac\necho 'BRAT: done'\n"
    )
    terminal = played(tmp_path, agent)
    head = terminal.done("git rev-parse HEAD")
    convoy = ended(
        terminal,
        'brat workflow run understanding --task "Tell" -v "parts=words/, tests/"',
    )

    assert [task["after"] for task in convoy["tasks"]] == [[], [], [1, 2]]
    assert [task["attempts"] for task in convoy["tasks"]] == [2, 1, 1]
    assert [task["landed_commit"] for task in convoy["tasks"]] == [None] * 3
    assert terminal.done("git rev-parse HEAD") == head
    [shown] = said_on(terminal)
    assert "Report of task 3: How it fits together: Tell" in shown
    assert "Tests count words." in shown
