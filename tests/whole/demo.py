"""The demo as people run it, and all that can be seen of it then and afterwards."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
from msgspec import Struct, json

from tests.world.github_forge import extension
from tests.world.github_forge.extension import EXCHANGES
from tests.world.given_secrets import written
from tests.world.patience import patient
from tests.world.plugin import python_with
from tests.world.second_reader import Row, rows
from tests.world.seen import Seen, contract_faults, exchanges, look
from tests.world.staying import until
from tests.world.terminal import Said, Terminal, left_running

TASKS = range(1, 8)
CHAOS_SEED = 7


class Story(Struct, frozen=True, kw_only=True, dict=True):
    """What one run of `brat demo --json` left."""

    said: Said
    left_running: list[str]
    calls: list[tuple[str, str]]
    """Method and path of everything that was asked of the forge by REST."""
    contract_faults: list[str]
    seen: Seen
    watched: list[str]
    """How its tasks ended in the dashboard that it was watched in, if it was."""

    @property
    def told(self) -> dict[str, Any]:
        found = json.decode(self.said.out)
        assert isinstance(found, dict)
        return found

    @property
    def tasks(self) -> list[dict[str, Any]]:
        return list(self.told["tasks"])

    @property
    def landed(self) -> list[str]:
        return [task["landed_commit"] for task in self.tasks]

    @cached_property
    def rows(self) -> list[Row]:
        return rows(self.seen.path)

    def facts(self, kind: str) -> list[dict[str, Any]]:
        found = (row.fact for row in self.rows)
        return [fact for fact in found if fact and fact["type"] == kind]


def play(folder: Path, *, chaos: int | None = None) -> Story:
    """Run the demo in `folder`, and watch it, or kill its bot with the seed `chaos`."""
    where, watched = folder / "demo", list[str]()
    more = f" --chaos --seed {chaos}" if chaos is not None else " --with-ui"
    terminal = Terminal(folder, folder)
    terminal.programs.mkdir(parents=True)
    package = {"name": "brat-forge-of-the-tests", "version": "1"}
    points = {"brat.forge": {"x": f"{extension.__name__}:recorded"}}
    python = python_with(terminal.home, package, points)
    terminal.install("brat", f'exec {python} -I -m brat "$@"\n')
    line = f"brat demo --json --dir {where}{more}"
    said = _watched(terminal, line, watched) if chaos is None else terminal.type(line)
    left = left_running(where)
    assert said.status == 0, said.err
    record = where / EXCHANGES
    return Story(
        said=said,
        left_running=left,
        calls=[(one.method, one.path) for one in exchanges(record)],
        contract_faults=list(contract_faults(record)),
        seen=look(where),
        watched=watched,
    )


def _watched(terminal: Terminal, line: str, watched: list[str]) -> Said:
    """Type a line; look at the dashboard that it serves, and press Enter at its end."""
    words, told = shlex.split(line), list[str]()
    with subprocess.Popen(
        [str(terminal.programs / words[0]), *words[1:]],
        cwd=terminal.cwd,
        env=terminal.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as demo:
        assert demo.stdin is not None
        assert demo.stdout is not None
        assert demo.stderr is not None
        for said in demo.stderr:
            told.append(said)
            if found := re.search(r"dashboard: (\S+)", said):
                watched += _states_once_complete(found[1])
            if "press Enter" in said:
                demo.stdin.write("\n")
                demo.stdin.flush()
        out = demo.stdout.read()
    return Said(demo.returncode, out, written("".join(told)))


def _states_once_complete(url: str) -> list[str]:
    """Follow the convoy over the dashboard's API; return how its tasks ended."""
    with let_in(url) as browser:

        def complete() -> list[dict[str, Any]]:
            found = browser.get("/api/v1/status").json()["convoys"]
            return [one for one in found if one["state"] == "complete"]

        (convoy,) = until(complete)
    return [task["state"] for task in convoy["tasks"]]


@contextmanager
def let_in(url: str) -> Iterator[httpx.Client]:
    """Open the printed address as a browser does; give who has its cookie now."""
    with httpx.Client(
        base_url=url.partition("?")[0],
        trust_env=False,
        timeout=patient(20),
        follow_redirects=True,
    ) as client:
        assert client.get(url).status_code == 200
        yield client
