"""Convoys in a repository made from nothing, while `brat up` runs in a terminal.

Everything is typed or done on the forge as a person does it: all processes are real.
"""

import json
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.world.extended import extended
from tests.world.local_rules import ask, bare_of
from tests.world.patience import patient
from tests.world.staying import typed
from tests.world.terminal import Terminal, new_terminal
from tests.world.words import engine

AGENT: Final = 'echo done > "$BRAT_CONVOY.txt"'
STATUSES: Final = {0, 1}
"""What `brat status` may end with: all is well, or somebody is waited for."""
DEADLINE_S: Final = patient(240)
LOOK_S: Final = 0.5


def prepared(folder: Path) -> Terminal:
    """Make a repository with one commit that brat knows."""
    terminal = extended(new_terminal(folder))
    files = {"README.md": "# Notes\n", ".brat/config.toml": _CONFIG}
    terminal.commit("Begin", files)
    terminal.done("brat init")
    return terminal


_CONFIG: Final = engine(AGENT, '[ci]\ncommand = "true"\n')


def copied(terminal: Terminal, folder: Path) -> Terminal:
    """Return a terminal in a copy of the repository, with the same home."""
    shutil.copytree(terminal.cwd, folder / "project", symlinks=True)
    return Terminal(folder / "project", terminal.home)


def named_by(title: str, issue: int) -> str:
    """Return the name of a convoy."""
    return f"{title.lower().replace(' ', '-')}-{issue}"


@dataclass
class Typed:
    """A terminal, and what a person asked for in it."""

    terminal: Terminal
    issues: dict[str, int] = field(default_factory=dict)
    """Numbers of the issues, by the names of their convoys."""
    output: str = ""
    """What every `brat up` that ended has said."""

    @contextmanager
    def up(self) -> Iterator[None]:
        """Run `brat up` for a while."""
        with typed(self.terminal, "up", "--no-dashboard") as process:
            assert process.stdout is not None
            begun = ""
            for line in process.stdout:
                begun += line
                if "watching" in line:
                    break
            else:
                raise AssertionError(begun)
            yield
            process.terminate()
            self.output += begun + process.stdout.read()

    def wants(self, names: Iterable[str]) -> None:
        """Open an issue with the label for each convoy, named by its title."""
        for name in names:
            asked = {"title": name, "body": "- [ ] one\n", "labels": ["brat"]}
            number = ask(self.terminal, "POST", "issues", asked)["number"]
            self.issues[named_by(name, number)] = number

    def status(self) -> dict[str, Any]:
        """Type `brat status --json`."""
        said = self.terminal.type("brat status --json")
        assert said.status in STATUSES, said.err
        assert "Traceback" not in said.err
        found: dict[str, Any] = json.loads(said.out)
        return found

    def complete(self) -> set[str]:
        """Return the convoys that are over."""
        return {c["name"] for c in self.status()["convoys"] if c["state"] == "complete"}

    def waiting(self) -> dict[str, str]:
        """Return why each convoy waits for a person; empty: a thing of no convoy."""
        return {i["convoy"]: i["why"] for i in self.status()["interventions"]}

    def said(self, convoy: str) -> str:
        """Return all comments on a convoy's issue."""
        path = f"issues/{self.issues[convoy]}/comments?per_page=100"
        return "\n".join(each["body"] for each in ask(self.terminal, "GET", path))

    def until(self, holds: Callable[[], bool], what: Callable[[], object]) -> None:
        """Wait until something holds; `what` says why it does not."""
        until = time.monotonic() + DEADLINE_S
        while not holds():
            assert time.monotonic() < until, what()
            time.sleep(LOOK_S)

    def end(self) -> dict[str, object]:
        """Return what there is when all is over; the forge is served."""
        listed = ask(self.terminal, "GET", "issues?state=all&per_page=100")
        pulls = ask(self.terminal, "GET", "pulls?state=all&per_page=100")
        runs = ask(
            self.terminal, "GET", "actions/runs?per_page=100&event=workflow_dispatch"
        )
        git = f"git -C {bare_of(self.terminal)}"
        files = self.terminal.done(f"{git} ls-tree --name-only main").split()
        return {
            "complete": self.complete(),
            "waiting": self.waiting(),
            "open": [each["number"] for each in listed if each["state"] == "open"],
            "merged": sum(each["merged_at"] is not None for each in pulls),
            "runs": runs["total_count"],
            "files": {Path(name).stem for name in files if name.endswith(".txt")},
            "queue": self.terminal.done(f"{git} for-each-ref refs/heads/brat/queue"),
        }

    def whole(self) -> dict[str, object]:
        """Return what `end` is when nothing was ever refused."""
        return {
            "complete": {*self.issues},
            "waiting": {},
            "open": [],
            "merged": 2 * len(self.issues),
            "runs": len(self.issues),
            "files": {*self.issues},
            "queue": "",
        }
