"""`brat uninstall`: nothing goes without a yes, and then all of it, and only that."""

from pathlib import Path

import pytest

from tests.world.terminal import Terminal
from tests.world.words import BARE, engine, project

pytestmark = [pytest.mark.timeout(600), pytest.mark.layer("landing")]


def planned(folder: Path) -> Terminal:
    terminal = project(folder, engine("true"))
    terminal.done("brat init")
    terminal.done("brat mayor start --task 'Say hi'")
    return terminal


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """A project whose own brat stays."""
    return planned(tmp_path_factory.mktemp("uninstall"))


def test_a_remote_that_does_not_answer_changes_nothing(terminal: Terminal) -> None:
    said = terminal.type("brat uninstall --remote nowhere --yes")

    assert said.status == 1
    assert "nowhere" in said.err
    assert terminal.type("brat status").status == 0


def test_a_remote_loses_the_log_and_keeps_the_work(terminal: Terminal) -> None:
    far = terminal.cwd.parent / "far.git"
    terminal.done(f"git clone -q --mirror {terminal.cwd / BARE} {far}")
    clone = Terminal(terminal.cwd.parent / "clone", terminal.home)
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
