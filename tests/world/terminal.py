"""A person at a terminal: the installed command, an empty home, plain git."""

import hashlib
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil
from msgspec import Struct

from tests.world.given_secrets import given_in, written
from tests.world.patience import patient

BRAT = Path(sys.executable).with_name("brat")
DEADLINE_S = patient(300)


class Said(Struct, frozen=True):
    """What a command left on the screen."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.err.splitlines()

    def after(self, start: str) -> list[str]:
        """Return the rest of each line that begins with `start`."""
        return [one.removeprefix(start) for one in self.lines if one.startswith(start)]


@dataclass(frozen=True)
class Terminal:
    """Where commands are typed; `brat` is the installed one."""

    cwd: Path
    home: Path

    @property
    def programs(self) -> Path:
        """A folder of the person's own programs, looked in first."""
        return self.home / "bin"

    def type(self, line: str, deadline_s: float = DEADLINE_S) -> Said:
        """Run one line as it would be typed: a program and its arguments."""
        words = shlex.split(line)
        given_in(dict(word.split("=", 1) for word in words if "=" in word))
        done = subprocess.run(
            words,
            cwd=self.cwd,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=deadline_s,
            check=False,
        )
        return Said(done.returncode, done.stdout, written(done.stderr))

    def done(self, line: str) -> str:
        """Type a line that must succeed; return its output without the last newline."""
        said = self.type(line)
        assert said.status == 0, said.err
        return said.out.rstrip("\n")

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            file = self.cwd / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")

    def install(self, name: str, script: str) -> None:
        """Put a shell script among the person's own programs."""
        file = self.programs / name
        file.write_text(f"#!/bin/sh\nset -eu\n{script}", encoding="utf-8")
        file.chmod(0o755)

    def commit(self, message: str, files: dict[str, str]) -> str:
        self.write(files)
        self.done("git add --all")
        self.done(f"git commit --quiet --message={shlex.quote(message)}")
        return self.done("git rev-parse HEAD")

    def environment(self) -> dict[str, str]:
        """Return what a person's shell would hand on, and nothing of this one's."""
        folders = [str(self.programs), str(BRAT.parent), *os.get_exec_path()]
        return {
            "PATH": os.pathsep.join(folders),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
        }


def new_terminal(folder: Path) -> Terminal:
    terminal = Terminal(folder / "project", folder / "home")
    terminal.cwd.mkdir(parents=True)
    terminal.programs.mkdir(parents=True)
    who = "[user]\n\tname = Pat Person\n\temail = pat@example.org\n"
    (terminal.home / ".gitconfig").write_text(who)
    terminal.done("git init --quiet --initial-branch=main")
    return terminal


def contents(folder: Path, *, but: str = "") -> dict[str, str]:
    """Return a digest of every file below `folder`, those below `but` left out."""
    return {
        name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
        and not ((name := str(file.relative_to(folder))) + "/").startswith(but or "//")
    }


def left_running(folder: Path) -> list[str]:
    """Return the command lines of processes that belong to what lies in `folder`."""
    return [
        " ".join(told)
        for process in psutil.process_iter()
        if process.pid != os.getpid() and (told := _speaks_of(process, str(folder)))
    ]


def _speaks_of(process: psutil.Process, folder: str) -> list[str]:
    try:
        with process.oneshot():
            line = process.cmdline()
            known = [*line, *process.environ().values(), process.cwd()]
    except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
        return []
    return line if any(folder in one for one in known) else []
