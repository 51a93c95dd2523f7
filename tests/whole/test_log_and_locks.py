"""`brat log`, `brat lock`, `brat doctor`, typed in a repository and in its clone."""

import json
from pathlib import Path

import pytest

from brat.repository.log_reader import Reader
from convoy.model.state import Lease
from tests.world.terminal import Terminal, left_running
from tests.world.words import BARE, cloned, engine, project

pytestmark = [pytest.mark.timeout(600), pytest.mark.layer("landing")]


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    terminal = project(tmp_path_factory.mktemp("log"), engine("echo hi > hi.txt"))
    terminal.done("brat init")
    terminal.done("brat mayor start --task 'Say hi'")
    return terminal


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
    assert (
        len(terminal.done(f"git -C {BARE} for-each-ref refs/grite/locks").split()) > 2
    )

    terminal.done("brat lock release path:src/")
    assert terminal.type("brat lock release path:src/").status == 1
    assert held() == []
    assert terminal.done(f"git -C {BARE} for-each-ref refs/grite/locks") == ""


def test_the_doctor_finds_nothing(terminal: Terminal) -> None:
    said = terminal.type("brat doctor")

    assert said.status == 0, said.err
    assert all(line.startswith("  ok") for line in said.lines)


def test_a_repository_in_which_brat_has_not_run_yet_has_no_fault(
    tmp_path: Path,
) -> None:
    said = project(tmp_path, engine("true")).type("brat doctor")

    assert said.status == 0, said.err
    assert said.lines[-1] == (
        "  note  brat has not run here yet -> brat run 'WHAT TO DO'"
    )


def test_the_doctor_names_what_is_wrong(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine("true", "[refinery]\nstrateg = 'squash'\n"))
    assert "strateg" in terminal.type("brat doctor").err

    assert terminal.type("brat doctor").status == 1


def test_nothing_is_left_running(terminal: Terminal) -> None:
    assert left_running(terminal.cwd.parent) == []


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
