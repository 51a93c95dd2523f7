"""Files and refs that somebody broke: one sentence each, and nothing is changed."""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from brat.repository import registration
from tests.world.layers import sampled
from tests.world.terminal import Terminal, contents
from tests.world.words import engine, project

pytestmark = [pytest.mark.timeout(300), pytest.mark.layer("landing")]
CONFIG = ".brat/config.toml"
REGISTRATION = ".git/brat/registration.json"
RECORDS = ".git/brat/forge/forge.sqlite"
START = "brat mayor start --task Anything"
MOVED = "move it away and run `brat init`, which writes a new one"
BROKEN: dict[str, tuple[Callable[[Terminal], object], tuple[str, ...], str]] = {
    "configuration in Latin-1": (
        lambda at: written(at, CONFIG, b'# \xfc\n\n[engine.default]\ntype = "\xfc"\n'),
        (START, "brat doctor"),
        f"{CONFIG}: line 1: this is not UTF-8 text (byte 0xfc); save the file as UTF-8",
    ),
    "configuration as a folder": (
        lambda at: (at.cwd / CONFIG).mkdir(parents=True),
        ("brat config check",),
        f"{CONFIG} must be a file, but it is a folder: move the folder",
    ),
    "empty registration": (
        lambda at: written(at, REGISTRATION, b""),
        ("brat status", "brat init", "brat doctor"),
        f"{REGISTRATION} cannot be read: Input data was truncated, {{}}; {MOVED}",
    ),
    "registration cut off": (
        lambda at: written(at, REGISTRATION, b'{"repository": "pat/project"}'),
        (START,),
        f"{REGISTRATION} cannot be read: Object missing required field `branch`, {{}}",
    ),
    "registration as a folder": (
        lambda at: (at.cwd / REGISTRATION).mkdir(),
        ("brat session tail 1",),
        f"{REGISTRATION} cannot be read: Is a directory; {MOVED}",
    ),
}


def test_lost_records_of_the_forge_are_said_and_made_anew(terminal: Terminal) -> None:
    written(terminal, CONFIG, engine("true").encode())
    for why in ("file is not a database", "project is missing"):
        written(terminal, RECORDS, b"noise" * 1000 if "not" in why else b"")
        for beside in (terminal.cwd / RECORDS).parent.glob("forge.sqlite-*"):
            beside.unlink()

        said = terminal.type(START)

        assert said.status == 1
        assert f"{RECORDS} cannot be read: " in said.err
        assert f"{why}; {MOVED}" in said.err
        (terminal.cwd / RECORDS).unlink()
        terminal.done("brat init")
        assert "opened issue #" in terminal.type(f"{START} --plan-only").err


def written(terminal: Terminal, name: str, content: bytes) -> None:
    file = terminal.cwd / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    at = project(tmp_path, None)
    at.done("brat init")
    return at


@pytest.mark.parametrize("how", sampled(zip(BROKEN), [*zip(BROKEN)][::3]))
def test_a_broken_file_is_one_sentence(terminal: Terminal, how: str) -> None:
    spoil, lines, sentence = BROKEN[how]
    if "registration" in how:
        (terminal.cwd / REGISTRATION).unlink()
    spoil(terminal)
    before = contents(terminal.cwd)

    for line in lines:
        said = terminal.type(line)

        assert said.status == 1, line
        assert "Traceback" not in said.err
        assert sentence.format("so it is truncated or was edited by hand") in said.err
    assert contents(terminal.cwd) == before


@pytest.mark.parametrize("kind", sampled([("blob",), ("tree",), ("tag",)], {("tag",)}))
def test_a_ref_that_is_no_log_is_said(terminal: Terminal, kind: str) -> None:
    folder = terminal.cwd / ".git/brat"
    known = registration.read(folder)
    bare = shlex.quote(str(registration.bare_path(folder, known)))
    written(terminal, CONFIG, engine("true").encode())
    terminal.done(f"git -C {bare} tag -a -m away away")
    names = {"blob": "HEAD:pyproject.toml", "tree": "HEAD^{tree}", "tag": "away"}
    target = terminal.done(f"git -C {bare} rev-parse {names[kind]}")
    terminal.done(f"git -C {bare} update-ref refs/grite/wal {target}")
    before = contents(terminal.cwd)

    started, shown = terminal.type(START), terminal.type("brat status")

    for said in (started, shown):
        assert said.status == 1
        assert f"points at a {kind} ({target[:10]}), so it is not a log" in said.err
    assert contents(terminal.cwd) == before
    terminal.done(shown.err.rpartition("remove it with: ")[2].strip())
    assert "no convoy yet" in terminal.type("brat status").err
