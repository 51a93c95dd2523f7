"""What new users type in their first five minutes, and what they see.

`make first-five-minutes` prints the sessions.
"""

import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from tests.world.terminal import Said, Terminal

PULL: Final = "landed; bring it into your checkout with: "
CONFIG: Final = """\
[engine.default]
type = "shell"
args = ["sh", "-c", "echo hello > hello.txt"]

[ci]
command = "test -f hello.txt"
"""
START: Final = "brat mayor start --headless --task 'Say hello'"
WHO: Final = "-c user.name=Lee -c user.email=lee@example.org"


class Step(Struct, frozen=True):
    """One line that was typed, and what came of it."""

    line: str
    said: Said


class Session:
    """One person at one terminal; every line is kept."""

    def __init__(self, folder: Path, name: str) -> None:
        """Stand in a new folder `name`, with a home that holds nothing."""
        self.terminal = Terminal(folder / name, folder / "home")
        self.terminal.cwd.mkdir(parents=True)
        self.terminal.programs.mkdir(parents=True, exist_ok=True)
        self.steps: list[Step] = []

    def type(self, line: str) -> Said:
        """Type a line into the shell."""
        said = self.terminal.type(f"sh -c {shlex.quote(line)}")
        self.steps.append(Step(line, said))
        return said

    def write(self, name: str, text: str) -> None:
        """Write a file, as an editor does."""
        self.terminal.write({name: text})
        self.steps.append(Step(f"$EDITOR {name}", Said(0, text, "")))

    def pull(self, said: Said) -> None:
        """Type the line that brings the work into the checkout."""
        self.type(said.after(PULL)[0])


def from_nothing(folder: Path) -> Session:
    """Begin in an empty folder: no repository, no name, no engine, no CI."""
    here = Session(folder, "hello")
    here.type("brat init")
    here.type("git init --quiet --initial-branch=main")
    here.type("brat init")
    here.type(f"git {WHO} commit --quiet --allow-empty -m Begin")
    here.type("brat init")
    here.type(START)
    here.write(".brat/config.toml", CONFIG)
    here.type("brat doctor")
    here.pull(here.type(START))
    here.type("cat hello.txt")
    here.type("brat status")
    return here


def from_a_clone(folder: Path) -> Session:
    """Begin in a clone: branch `trunk`, a submodule, a path that wants care."""
    lib, origin = Session(folder, "lib"), Session(folder, "origin")
    lib.write("greeting.txt", "hello\n")
    for each in (lib, origin):
        each.type("git init --quiet --initial-branch=trunk")
    lib.type(f"git add --all && git {WHO} commit --quiet -m Greet")
    origin.write("Makefile", "test:\n\tcmp vendor/lib/greeting.txt hello.txt\n")
    origin.write(".brat/config.toml", CONFIG.partition("[ci]")[0])
    origin.type(
        "git -c protocol.file.allow=always submodule --quiet add ../lib vendor/lib"
    )
    origin.type(f"git add --all && git {WHO} commit --quiet -m Begin")
    here = Session(folder, "my [bold] [/x] prójects")
    here.type("git -c protocol.file.allow=always clone -q --recursive ../../origin .")
    here.type("brat init")
    here.pull(here.type(START))
    here.type("cat hello.txt && git status --short --branch")
    return here


def without_tests(folder: Path) -> Session:
    """Begin in a repository that has no tests, and want none."""
    here = Session(folder, "notes")
    here.type("git init --quiet --initial-branch=main")
    here.write("README.md", "Notes\n")
    here.type(f"git add --all && git {WHO} commit --quiet -m Begin")
    here.write(".brat/config.toml", CONFIG.partition("[ci]")[0])
    here.type("brat init")
    here.type(START)
    untested = "[refinery]\nrequire_ci = false\n"
    here.write(".brat/config.toml", CONFIG.partition("[ci]")[0] + untested)
    here.pull(here.type(START))
    here.type("cat hello.txt")
    return here


SESSIONS: Final[dict[str, Callable[[Path], Session]]] = {
    "an empty folder": from_nothing,
    "a clone": from_a_clone,
    "no tests": without_tests,
}


def transcript(session: Session) -> Iterator[str]:
    """Yield the lines of a session as they stood on the screen."""
    for step in session.steps:
        yield f"$ {step.line}"
        yield from f"{step.said.err}{step.said.out}".splitlines()


def main() -> None:
    """Play every session and print it."""
    for name, play in SESSIONS.items():
        with tempfile.TemporaryDirectory() as folder:
            lines = [f"--- {name} ---", *transcript(play(Path(folder)))]
            sys.stdout.write("\n".join(lines).replace(folder, "~") + "\n\n")


if __name__ == "__main__":
    main()
