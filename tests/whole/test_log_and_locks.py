"""`brat log`, `lock`, `doctor`, `uninstall`, typed in a repository and in its clone."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from brat.repository.log_reader import Reader
from convoy.model.state import Lease
from tests.world.terminal import Terminal, left_running
from tests.world.words import BARE, cloned, engine, project

pytestmark = [pytest.mark.timeout(600), pytest.mark.layer("landing")]


def planned(folder: Path) -> Terminal:
    terminal = project(folder, engine("echo hi > hi.txt"))
    terminal.done("brat init")
    terminal.done("brat mayor start --task 'Say hi'")
    return terminal


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    terminal = planned(tmp_path_factory.mktemp("log"))
    yield terminal
    assert left_running(terminal.cwd.parent) == []


@pytest.mark.layer("deep")
def test_the_log_is_told_line_by_line(terminal: Terminal) -> None:
    lines = terminal.done("brat log show -n 100").splitlines()

    assert any(line.endswith("Planned 1 task (task list).") for line in lines)
    assert terminal.done("brat log tail -n 1").splitlines() == lines[-1:]
    assert terminal.done("brat log show -n 0") == ""


def test_the_log_is_exported_whole(terminal: Terminal) -> None:
    document = json.loads(terminal.done("brat log export --format json"))
    page = terminal.done("brat log export --format md")

    types = [event["brat"]["type"] for event in document["events"] if "brat" in event]
    assert types[:3] == ["bot.started", "convoy.requested", "action.intended"]
    assert document["meta"]["event_count"] == len(document["events"])
    assert document["faults"] == []
    assert "Planned 1 task (" in page


@pytest.mark.layer("deep")
def test_a_clone_reads_the_log_once_it_has_fetched_it(terminal: Terminal) -> None:
    clone = cloned(terminal)
    lacking = clone.type("brat log show")
    assert lacking.status == 1
    assert "git fetch origin 'refs/grite/*:refs/grite/*'" in lacking.err

    clone.done("git fetch -q origin refs/grite/*:refs/grite/*")

    assert clone.done("brat log show") == terminal.done("brat log show")
    lock = clone.type("brat lock acquire path:src/ --ttl 900")
    assert lock.status == 1
    assert lock.lines[-1].endswith("issues: /brat lock path:src/ ttl=900s")


def test_a_lock_is_taken_shown_renewed_and_given_up(terminal: Terminal) -> None:
    def held() -> list[Lease]:
        return [*Reader(terminal.cwd / BARE).read().leases.values()]

    assert terminal.type("brat lock acquire path:src/").status == 0
    assert terminal.type("brat lock acquire path:src/a.py").status == 1
    assert "path:src/" in terminal.done("brat lock status")
    (before,) = held()

    terminal.done("brat lock renew path:src/ --ttl 900")

    (after,) = held()
    assert (after.nonce, after.holder) == (before.nonce, before.holder)
    assert after.expires > before.expires
    locks = f"git -C {BARE} for-each-ref refs/grite/locks"
    assert len(terminal.done(locks).split()) > 2

    terminal.done("brat lock release path:src/")
    assert terminal.type("brat lock release path:src/").status == 1
    assert held() == []
    assert terminal.done(locks) == ""


def test_the_doctor_names_what_is_wrong(terminal: Terminal, tmp_path: Path) -> None:
    well = terminal.type("brat doctor")
    fresh = project(tmp_path, engine("true"))
    new = fresh.type("brat doctor")
    fresh.write({".brat/config.toml": "[refinery]\nstrateg = 'squash'\n"})
    wrong = fresh.type("brat doctor")

    assert well.status == 0, well.err
    assert all(line.startswith("  ok") for line in well.lines)
    assert new.status == 0, new.err
    assert new.lines[-1] == "  note  brat has not run here yet -> brat run 'WHAT TO DO'"
    assert (wrong.status, "strateg" in wrong.err) == (1, True)


def test_a_log_whose_key_is_gone_is_taken_over_by_a_person(terminal: Terminal) -> None:
    """So are logs from before they were signed: no commit of theirs counts."""
    for file in (terminal.cwd / ".git/brat/bot").glob("log_key*"):
        file.unlink()
    head = terminal.done(f"git -C {BARE} rev-parse refs/grite/wal").strip()

    refused = terminal.type("brat lock acquire port:5432")
    assert refused.status == 1
    assert f"brat log adopt {head}" in refused.err
    assert terminal.done(f"git -C {BARE} rev-parse refs/grite/wal").strip() == head
    wrong = terminal.type(f"brat log adopt {'1' * 40}")
    assert wrong.status == 1

    adopted = terminal.type(f"brat log adopt {head}")
    assert adopted.err == f"the log is now trusted up to {head}\n"

    assert terminal.type("brat lock acquire port:5432").status == 0


# --- `brat uninstall`: nothing goes without a yes, and then all of it, and only that --


def test_a_remote_loses_the_log_and_keeps_the_work(terminal: Terminal) -> None:
    silent = terminal.type("brat uninstall --remote nowhere --yes")
    assert (silent.status, "nowhere" in silent.err) == (1, True)
    assert terminal.type("brat status").status == 0
    far = terminal.cwd.parent / "far.git"
    terminal.done(f"git clone -q --mirror {terminal.cwd / BARE} {far}")
    clone = Terminal(terminal.cwd.parent / "of-far", terminal.home)
    terminal.done(f"git clone -q {far} {clone.cwd}")
    clone.done("git fetch -q origin refs/grite/*:refs/grite/*")
    before = clone.done("git ls-remote --refs origin refs/heads/*")

    said = clone.type("brat uninstall --remote origin --yes")

    assert said.status == 0, said.err
    assert "refs/grite/wal on origin" in said.err
    assert clone.done("git ls-remote --refs origin refs/grite/*") == ""
    assert clone.done("git for-each-ref refs/grite") == ""
    assert clone.done("git ls-remote --refs origin refs/heads/*") == before


def test_a_local_forge_goes_only_with_a_yes(tmp_path: Path) -> None:
    terminal = planned(tmp_path)
    asked = terminal.type("brat uninstall")
    assert asked.status == 1
    assert asked.lines[0] == "this will be permanently removed:"
    assert "nothing was removed" in asked.err
    assert terminal.type("brat status").status == 0

    terminal.done("brat uninstall --yes")

    assert not (terminal.cwd / ".git/brat").exists()
    assert "there is nothing to remove" in terminal.type("brat uninstall").err
    assert terminal.done("git status --short") == ""


# --- `brat doctor --engines`: what would stop one is said before it is paid for -------


ENGINES = """\
[engine.default]
type = "claude-code"
secret = "TEAM_KEY"

[engine.tests]
type = "continue"

[engine.docs]
type = "plugin:abacus"

[engine.own]
type = "shell"
args = ["no-such-program"]
"""
LOOK = "brat doctor --engines"


def of(engine: str, lines: list[str]) -> list[str]:
    return [one for one in lines if f"[engine.{engine}]" in one]


@pytest.mark.layer("landing")
def test_each_engine_is_looked_at(tmp_path: Path) -> None:
    terminal = project(tmp_path, ENGINES)
    terminal.install("claude", "echo 2.1.0 '(a stand-in)'")

    lines = terminal.type(LOOK).lines

    program, key = of("default", lines)
    assert program.endswith(
        "ok    [engine.default] claude-code: claude 2.1.0 (a stand-in)"
    )
    assert "FAULT [engine.default] claude-code: The engine claude-code needs" in key
    assert "in the variable TEAM_KEY, which is not set" in key
    (tests,) = of("tests", lines)
    assert "FAULT [engine.tests] continue: The engine continue needs a model" in tests
    (docs,) = of("docs", lines)
    assert "There is no engine 'plugin:abacus'; available: " in docs
    (own,) = of("own", lines)
    assert "the program no-such-program was not found -> install it" in own

    terminal.install("claude", "env")
    said = terminal.type(f"env TEAM_KEY=made-up-0123456789 {LOOK}").lines
    program, key = of("default", said)

    assert key.endswith("[engine.default] claude-code: the key is set")
    assert "made-up" not in program + key, "a key is not shown"
