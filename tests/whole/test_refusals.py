"""What is wrong is said in one sentence, before anything starts or changes."""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from brat.commands.command_line import command_line
from brat.repository import registration
from grite.errors import BratError
from tests.world.terminal import Terminal, contents, new_terminal
from tests.world.words import engine, project

pytestmark = [pytest.mark.timeout(300), pytest.mark.layer("landing")]

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


# --- files and refs that somebody broke -----------------------------------------------


CONFIG = ".brat/config.toml"
REGISTRATION = ".git/brat/registration.json"
RECORDS = ".git/brat/forge/forge.sqlite"
BEGIN = "brat mayor start --task Anything"
MOVED = "move it away and run `brat init`, which writes a new one"
CUT = f"Input data was truncated, so it is truncated or was edited by hand; {MOVED}"
LATIN = b'# \xfc\n\n[engine.default]\ntype = "\xfc"\n'
BROKEN: tuple[tuple[str, bytes | None, tuple[str, ...], str], ...] = (
    # a file, what it holds (None: it is a folder), what is typed, what is said of it
    (
        *(CONFIG, LATIN, (BEGIN, "brat doctor")),
        ": line 1: this is not UTF-8 text (byte 0xfc); save the file as UTF-8",
    ),
    (
        *(CONFIG, None, ("brat config check",)),
        " must be a file, but it is a folder: move the folder",
    ),
    (REGISTRATION, b"", ("brat status", "brat init", "brat doctor"), CUT),
    (
        REGISTRATION,
        b'{"repository": "x/y"}',
        (BEGIN,),
        "required field `branch`",
    ),
    (REGISTRATION, None, ("brat session tail 1",), f"Is a directory; {MOVED}"),
)


def test_lost_records_of_the_forge_are_said_and_made_anew(terminal: Terminal) -> None:
    written(terminal, CONFIG, engine("true").encode())
    for why in ("file is not a database", "project is missing"):
        written(terminal, RECORDS, b"noise" * 1000 if "not" in why else b"")
        for beside in (terminal.cwd / RECORDS).parent.glob("forge.sqlite-*"):
            beside.unlink()

        said = terminal.type(BEGIN)

        assert said.status == 1
        assert f"{RECORDS} cannot be read: " in said.err
        assert f"{why}; {MOVED}" in said.err
        (terminal.cwd / RECORDS).unlink()
        terminal.done("brat init")
        assert "opened issue #" in terminal.type(f"{BEGIN} --plan-only").err


def written(terminal: Terminal, name: str, content: bytes) -> None:
    file = terminal.cwd / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    at = project(tmp_path, None)
    at.done("brat init")
    return at


def test_a_broken_file_is_one_sentence(tmp_path: Path, refused_here: Here) -> None:
    for number, (name, content, lines, sentence) in enumerate(BROKEN):
        terminal = project(tmp_path / f"{number}", None)
        terminal.done("brat init")
        if content is not None:
            written(terminal, name, content)
        else:
            (terminal.cwd / name).unlink(missing_ok=True)
            (terminal.cwd / name).mkdir(parents=True)
        before = contents(terminal.cwd)

        for line in lines:
            doctor = line == "brat doctor"
            said = terminal.type(line).err if doctor else refused_here(terminal, line)
            assert name in said
            assert sentence in said
        assert contents(terminal.cwd) == before


def test_a_ref_that_is_no_log_is_said(terminal: Terminal) -> None:
    folder = terminal.cwd / ".git/brat"
    bare = shlex.quote(str(registration.bare_path(folder, registration.read(folder))))
    written(terminal, CONFIG, engine("true").encode())
    terminal.done(f"git -C {bare} tag -a -m away away")
    names = {"blob": "HEAD:pyproject.toml", "tree": "HEAD^{tree}", "tag": "away"}
    for kind, name in names.items():
        target = terminal.done(f"git -C {bare} rev-parse {name}")
        terminal.done(f"git -C {bare} update-ref refs/grite/wal {target}")
        before = contents(terminal.cwd)

        started, shown = terminal.type(BEGIN), terminal.type("brat status")

        for said in (started, shown):
            assert said.status == 1
            assert f"points at a {kind} ({target[:10]}), so it is not a log" in said.err
        assert contents(terminal.cwd) == before
        terminal.done(shown.err.rpartition("remove it with: ")[2].strip())
        assert "no convoy yet" in terminal.type("brat status").err
