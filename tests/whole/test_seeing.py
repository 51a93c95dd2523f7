"""The words that look, typed in a repository and in a clone of it, with no bot."""

import json
import re
from pathlib import Path

import msgspec
import pytest

from convoy.views.interventions import Intervention
from convoy.views.plan import PlanDocument
from tests.world.kept import Kept
from tests.world.rules import NAME, Rules, spec
from tests.world.terminal import Terminal, new_terminal
from tests.world.words import cloned, engine, project, status

pytestmark = [pytest.mark.timeout(600), pytest.mark.layer("landing")]

LIST = (
    "Say words\n\n![](https://a.b/c)\n\n"
    "- [ ] Say hi (paths: hi.txt)\n- [ ] Say ho (after: 1)\n"
)


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """A convoy that was planned; nobody has run a session yet."""
    terminal = project(
        tmp_path_factory.mktemp("seeing"),
        engine("echo task $BRAT_TASK says hi; sleep 1; echo $BRAT_TASK > hi.txt"),
    )
    terminal.done("brat init")
    said = terminal.type(f"brat mayor start --task '{LIST}'")
    assert said.status == 0, said.err
    return terminal


def test_status_and_why_tell_what_tasks_wait_for(terminal: Terminal) -> None:
    shown = terminal.done("brat status")

    assert "say-words-1: active" in shown
    assert "2 Say ho" in shown
    assert "task 1" in shown
    assert terminal.done("brat why 2").splitlines() == [
        "say-words-1, task 2: Say ho",
        "- it is queued, not tried yet",
        "- it is waiting for task 1 (queued)",
        "- it waits for task 1: the plan says so",
    ]
    about_the_only_one = terminal.done("brat why")
    assert about_the_only_one == terminal.done("brat why say-words-1")


def test_every_list_has_a_form_for_programs(terminal: Terminal) -> None:
    whole = json.loads(terminal.done("brat status --json"))
    words = {"convoys": "convoy list", "sessions": "session list", "queue": "queue"}
    lists = {
        name: json.loads(terminal.done(f"brat {each} --json"))[name]
        for name, each in words.items()
    }

    assert whole["schema_version"] == 1
    assert {name: whole[name] for name in lists} == lists
    assert lists["convoys"][0]["tasks"][1]["after"] == [1]
    assert lists["sessions"] == lists["queue"] == []


def test_a_clone_that_has_the_refs_sees_the_same(terminal: Terminal) -> None:
    clone = cloned(terminal)
    clone.done("git fetch -q origin refs/grite/*:refs/grite/*")

    assert clone.done("brat status --json") == terminal.done("brat status --json")
    assert clone.done("brat task show 1") == terminal.done("brat task show 1")


def test_a_convoy_is_paused_and_resumed(terminal: Terminal) -> None:
    said = terminal.type("brat pause")
    paused = terminal.done("brat why 1")
    advice = terminal.type("brat witness run --once")
    terminal.done("brat convoy resume say-words-1")

    assert said.lines[:3] == [
        "carried out: pause say-words-1",
        "say-words-1 is paused: a person paused it",
        "  to go on: brat resume say-words-1",
    ]
    assert "- it is waiting for a person: the convoy is paused" in paused
    assert "to go on: brat resume say-words-1" in advice.err
    assert advice.status == 1
    assert "paused" not in terminal.done("brat why 1")


def test_what_a_session_prints_is_shown(terminal: Terminal) -> None:
    early = terminal.type("brat session tail 1")
    terminal.done("brat witness run --once")

    tasks = status(terminal)["convoys"][0]["tasks"]
    assert tasks[0]["state"] == "needs-review", "one round waits for its sessions"
    assert "task 1 has had no session yet" in early.err
    printed = terminal.done("brat session tail 1")
    assert "task 1 says hi" in printed
    assert terminal.done("brat session tail -f 1") == printed


def test_a_report_is_written_where_it_is_said(terminal: Terminal) -> None:
    hidden = terminal.cwd / ".git/brat/report-say-words-1.html"
    for words, told in (("", f"{hidden}"), ("--out ../report.html",) * 2):
        said = terminal.type(f"brat report {words}")

        file = told.removeprefix("--out ")
        assert said.lines == [f"wrote {file}"]
        assert "<h1>say-words-1: active</h1>" in (terminal.cwd / file).read_text()
        assert terminal.done("git status --porcelain") == ""
    nowhere = terminal.type("brat report --out /nowhere/report.html")
    assert nowhere.status == 1
    assert "/nowhere/report.html: No such file or directory" in nowhere.err


def test_the_page_names_every_field(terminal: Terminal) -> None:
    page = (Path(__file__).parents[2] / "docs" / "status.md").read_text()
    whole = json.loads(terminal.done("brat status --json"))
    told = {*whole, *whole["convoys"][0], *whole["convoys"][0]["tasks"][0]}
    told |= {field.name for field in msgspec.structs.fields(Intervention)}
    told |= {field.name for field in msgspec.structs.fields(PlanDocument)}

    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == told


# --- line breaks ----------------------------------------------------------------------


RED = """CI is red on baf3c4c43e: tests/test_a.py::test_x failed

E       assert 1 == 2
\x1b[31m- next: brat task drop 1\x1b[0m\x07
tests/test_a.py:7: AssertionError
"""
SAID = ("", "E       assert 1 == 2", "- next: brat task drop 1", RED.splitlines()[-1])


def test_a_red_ci_is_told_line_by_line_and_in_a_list_by_its_first(
    tmp_path: Path,
) -> None:
    rules = Rules().planned(spec(1), spec(2)).blocked(1, RED)
    kept = Kept(tmp_path / "log.git", rules)
    terminal = new_terminal(tmp_path / "person")

    def shown(words: str) -> list[str]:
        return terminal.type(f"brat {words} --repo {kept.path}").out.splitlines()

    for words, begin, indent in (
        ("why 1", "- CI is red on baf3c4c43e", "    "),
        ("task show 1", "why            CI is red on baf3c4c43e", "    "),
        (f"convoy show {NAME}", f"  {NAME} task 1: CI is red on ", "      "),
    ):
        said = shown(words)
        [first] = [number for number, line in enumerate(said) if line.startswith(begin)]
        told = [line and indent + line for line in SAID]
        assert said[first + 1 : first + 1 + len(told)] == told, words

    [line] = [one for one in shown("status") if one.startswith(f"  {NAME} task 1: ")]
    assert line.endswith("tests/test_a.py::test_x failed")
