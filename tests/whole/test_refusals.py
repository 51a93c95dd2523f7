"""What is wrong is said in one sentence, before anything starts or changes."""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from brat.commands.command_line import command_line
from grite.errors import BratError
from tests.world.terminal import Terminal, contents, new_terminal
from tests.world.words import engine, project

pytestmark = pytest.mark.layer("landing")

START = "brat mayor start --task 'Spell words' --headless"
SHELL = engine("my-agent < $BRAT_PROMPT")
Here = Callable[[Terminal, str], str]


def refused(terminal: Terminal, line: str) -> str:
    """Type a line that is refused; return its only sentence."""
    before = contents(terminal.cwd)
    said = terminal.type(line)

    assert (said.status, said.out) == (1, ""), said.err
    assert contents(terminal.cwd) == before
    (sentence,) = said.lines
    assert sentence.startswith("brat: ")
    return sentence


@pytest.fixture
def refused_here(monkeypatch: pytest.MonkeyPatch) -> Here:
    """Return what lets this process read a line: it starts in a tenth of the time."""

    def sentence(terminal: Terminal, line: str) -> str:
        for name, value in terminal.environment().items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(terminal.cwd)
        before, words = contents(terminal.cwd), shlex.split(line)[1:]
        with pytest.raises(BratError) as caught:
            command_line(words[0])(words)
        assert contents(terminal.cwd) == before
        return str(caught.value)

    return sentence


def test_what_agents_cannot_start_from(tmp_path: Path, refused_here: Here) -> None:
    empty = refused_here(new_terminal(tmp_path / "empty"), START)
    terminal = project(tmp_path, SHELL)
    assert "`brat run`" in refused_here(terminal, "brat status")
    for role in ("witness", "deacon"):
        assert "`brat init`" in refused_here(terminal, f"brat {role} run")
    terminal.done(f"git clone --quiet --bare . {tmp_path}/bare.git")
    bare = refused(terminal, f"brat init --repo {tmp_path}/bare.git")
    terminal.write({"words/count.py": "def count(text): ...\n"})
    changed = [refused_here(terminal, line) for line in ("brat init", START)]
    terminal.done("git switch --quiet --detach")
    nowhere = refused_here(terminal, "brat init")

    assert "has no commits yet" in empty
    assert "is a bare repository" in bare
    assert all("uncommitted changes (words/count.py)" in each for each in changed)
    assert "is not on a branch" in nowhere


def test_a_key_that_nobody_knows_names_the_nearest(
    tmp_path: Path, refused_here: Here
) -> None:
    terminal = project(tmp_path, SHELL + '[refinery]\nstratgy = "merge"\n')

    for line in (START, "brat config check"):
        sentence = refused_here(terminal, line)

        place = f"{terminal.cwd}/.brat/config.toml: refinery.stratgy"
        assert f"{place}: unknown" in sentence
        assert sentence.endswith("did you mean strategy?")


def test_without_any_ci_it_is_said_that_nothing_will_land(tmp_path: Path) -> None:
    terminal = new_terminal(tmp_path)
    terminal.commit("Begin", {"README.md": "# Notes\n", ".brat/config.toml": SHELL})

    said = terminal.type("brat init")

    assert said.status == 0
    (line,) = said.after("CI: ")
    assert line.startswith("none found. Nothing will land until you set [ci] command")
    terminal.install("my-agent", "true\n")
    assert "no CI command was found, so nothing can land" in refused(terminal, START)
