"""Patterns end to end: the command, the local forge, real processes as agents."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.world.terminal import Terminal, left_running
from tests.world.words import BARE, PULL, convoy_of, project

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


def ended(terminal: Terminal, command: str) -> dict[str, Any]:
    """Type a command that runs a convoy; return it, with what landed checked out."""
    said = terminal.type(f"{command} --headless")
    assert left_running(terminal.cwd) == []
    convoy = convoy_of(terminal)
    assert (convoy["state"], said.status) == ("complete", 0), said.err
    for pull in said.after(PULL):
        terminal.done(pull)
    return convoy


@pytest.mark.layer("landing")
def test_patterns_are_listed_and_checked_before_anything_begins(tmp_path: Path) -> None:
    terminal = played(tmp_path)
    listed = json.loads(terminal.done("brat workflow list --json"))["patterns"]
    by_name = {each["name"]: each for each in listed}
    assert by_name["spec"]["file"] is None
    assert "Spec-driven" in by_name["spec"]["description"]

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

    terminal.done("git revert --no-edit HEAD")
    for line, told in (
        ("run sepc --task x", "did you mean spec?"),
        ("run spec --task x", "the pattern spec needs file=…"),
        ("run spec --task x -v file=a -v tester=x", 'there is no engine "x"'),
    ):
        said = terminal.type(f"brat workflow {line}")

        assert (said.status, told in said.err) == (1, True), said.err
    assert not (terminal.cwd / ".git/brat").exists()


@pytest.mark.layer("landing")
def test_tests_are_seen_red_before_the_code_and_land_with_it(tmp_path: Path) -> None:
    tester = (
        'asked=$(cat); case "$asked" in\n'
        "*'at least one test must fail'*) echo 'test -e code.txt' > check.sh;;\n"
        "*) echo true > check.sh;;\nesac\necho 'BRAT: done'\n"
    )
    coder = "cat check.sh; echo code > code.txt\n"
    meddler = "if test $BRAT_ATTEMPT = 1; then echo true > check.sh; fi\n"
    terminal = played(tmp_path, tester, f"{coder}{meddler}echo 'BRAT: done'\n")
    terminal.commit("Judge by tests", {"ci.sh": "! test -e check.sh || sh check.sh\n"})
    convoy = ended(terminal, 'brat workflow run tdd --task "Write it"')

    told = [
        (each["title"], each["attempts"], each["state"]) for each in convoy["tasks"]
    ]
    assert told == [("Tests: Write it", 2, "merged"), ("Write it", 2, "merged")]
    assert (terminal.cwd / "check.sh").read_text() == "test -e code.txt\n"
    assert (terminal.cwd / "code.txt").exists()
    log = terminal.done("brat log show -n 500")
    assert "CI was red on the tests of task 1 (" in log
    assert "the work changes the tests that it must pass: check.sh" in log


# --- best of several ------------------------------------------------------------------

RACER = """\
case $BRAT_TASK in
1) printf 'a\\nb\\nc\\n' > said.txt;;
2) echo b > said.txt; touch bad;;
3) printf 'c\\nd\\n' > said.txt;;
*) asked=$(cat); case "$asked" in {judge} esac;;
esac
echo 'BRAT: done'
"""
THREE = (
    'brat workflow run best-of --task "Say it" -v "engines=default, default, default"'
)


def choice(winner: int) -> str:
    answer = json.dumps({"winner": winner, "text": "It says the most."})
    return f"echo '{answer}' > answer.json"


@pytest.mark.layer("landing")
def test_of_three_that_try_the_judges_choice_lands_and_none_is_lost(
    tmp_path: Path,
) -> None:
    judge = (
        f"*'not one of the rivals: choose one of 1, 3.'*'+c'*) {choice(1)};;\n"
        f"*'Task 2 is not green in CI: choose one of 1, 3.'*) {choice(9)};;\n"
        f"*'+a'*'+c'*) {choice(2)};;"
    )
    terminal = played(tmp_path, RACER.format(judge=judge), RACER.format(judge=judge))
    convoy = ended(terminal, THREE)

    tasks = convoy["tasks"]
    assert [(task["kind"], task["engine"], task["state"]) for task in tasks] == [
        ("rival", "default", "merged"),
        *[("rival", "default", "dropped")] * 2,
        ("choice", "other", "merged"),
    ]
    assert tasks[2]["why"] == "task 4 chose task 1"
    assert tasks[3]["attempts"] == 3
    assert (terminal.cwd / "said.txt").read_text() == "a\nb\nc\n"
    assert not (terminal.cwd / "bad").exists()
    for number, first in enumerate("abc", 1):
        kept = f"refs/grite/attempts/{convoy['name']}/{number}/1:said.txt"
        assert terminal.done(f"git -C {BARE} show {kept}").split()[0] == first
    assert [task["pull_request"] is None for task in tasks] == [False, *[True] * 3]
    assert convoy["warnings"] == ["3 attempts use only 1 engine: default"]
    log = terminal.done("brat log show -n 500")
    commit = r" \([0-9a-f]+\)"
    assert re.search(rf"on task 1{commit}, which can now be chosen\.", log)
    assert re.search(rf"chose task 1{commit}: It says the most\.", log)


# --- plans that an engine makes -------------------------------------------------------


PLAN = [
    {"title": "Say one", "instructions": "Do it.", "creates": ["one.txt"]},
    {"title": "Say two", "instructions": "Do it.", "creates": ["two.txt"]},
    {"title": "Both", "instructions": "Do it.", "paths": ["one.txt"], "after": [2]},
]
PLANNED = """\
[mayor]
engine = "planner"

[engine.default]
type = "shell"
args = ["sh", "-c", "cat $BRAT_PROMPT > said-$BRAT_TASK.txt"]

[engine.planner]
type = "shell"
args = ["sh", "-c", '''
{planner}
''']
"""
ASK = "brat mayor start --task 'Say one and two, then both.' --headless"


def planned_by(folder: Path, planner: str) -> Terminal:
    terminal = project(folder, PLANNED.replace("{planner}", planner))
    terminal.install("my-planner", f"cat <<'END'\n{json.dumps({'tasks': PLAN})}\nEND\n")
    return terminal


@pytest.mark.layer("landing")
def test_prose_becomes_tasks_that_wait_for_what_they_share(tmp_path: Path) -> None:
    terminal = planned_by(
        tmp_path, 'grep -q "then both" "$BRAT_PROMPT" && my-planner > plan.json'
    )
    said = terminal.type(ASK)

    assert said.status == 0, said.err
    convoy = convoy_of(terminal)
    assert [task["after"] for task in convoy["tasks"]] == [[], [], [1, 2]]
    assert [task["state"] for task in convoy["tasks"]] == ["merged"] * 3
    why = terminal.done("brat why task-3")
    assert "it waited for task 1: task 1 creates one.txt" in why
    assert "Planned 3 tasks (engine planner)." in terminal.done("brat log show -n 200")
    assert left_running(terminal.cwd) == []


@pytest.mark.layer("landing")
def test_a_plan_alone_waits_for_a_person(tmp_path: Path) -> None:
    terminal = planned_by(tmp_path, "my-planner > plan.json")
    terminal.done("brat init")
    said = terminal.type("brat mayor start --task 'Say it.' --plan-only --json")

    assert said.status == 0, said.err
    told = json.loads(said.out)
    approve = f"brat approve {told['name']}"
    assert f"nothing starts until you run: {approve}" in said.err
    assert (told["state"], len(told["tasks"])) == ("planning", 3)
    assert {task["attempts"] for task in told["tasks"]} == {0}

    terminal.done(approve)
    assert "pat-person approved the plan." in terminal.done("brat log show -n 100")
