"""Local mode on a developer's machine: the attack as engine, setup and CI."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import json

from tests.attacks.machine import Machine, fresh, furnish_home, targets
from tests.attacks.surroundings import SECRET, surroundings
from tests.runner.proxy.world import server
from tests.world.act.extension import with_act
from tests.world.staying import typed, until
from tests.world.terminal import Terminal, new_terminal
from tests.world.waiting import texts

UNDER_WAY = "queued", "running"
HEADLESS = "brat mayor start --task 'Spell words' --headless --timeout 600s"
CONFIG = """\
[engine.default]
type = "shell"
args = ["sh", "-c", "{engine}; echo 'BRAT: done. Yes.'"]

[witness]
attempts = 1

[runner]
egress = []
setup_hosts = []

[ci]
command = "{ci}"
"""


@contextmanager
def developer() -> Iterator[tuple[Machine, Terminal]]:
    """Give a developer's machine with the attack in their project."""
    with fresh() as root, surroundings(root) as around, server() as model:
        terminal = new_terminal(root)
        brat = terminal.cwd / ".git/brat"
        at = targets(
            around,
            home=terminal.home,
            programs=(terminal.programs, terminal.home / ".local/bin"),
            commands=(brat / "forge/runs/*/env", brat / "forge/runs/*/path"),
            later=(brat / "forge/*.json", brat / "registration.json"),
            credentials=(terminal.home / ".ssh/id_ed25519",),
            temp=brat / "forge/runs",
            workspace=terminal.cwd,
            result=brat / "forge/runs",
            cache=brat / "forge/runs/tools",
        )
        furnish_home(terminal.home)
        machine = Machine(root, at, around, model)
        engine = machine.command("engine", "tidy")
        config = CONFIG.format(engine=engine, ci=machine.command("ci"))
        files = machine.files() | {".brat/config.toml": config}
        terminal.commit("Adopt", files)
        yield machine, terminal


def run_by_act(terminal: Terminal) -> None:
    """Let act run the session of one task; return when the bot has its result."""
    with_act(terminal).done("brat init")
    terminal.done("brat mayor start --task 'Spell words'")
    words = ("up", "--no-dashboard")
    with typed(terminal, *words, AWS_SECRET_ACCESS_KEY=SECRET):
        until(lambda: has_ended(terminal))


def has_ended(terminal: Terminal) -> bool:
    (convoy,) = json.decode(terminal.done("brat status --json"))["convoys"]
    tasks = convoy["tasks"]
    return bool(tasks) and tasks[0]["state"] not in UNDER_WAY


def said(folder: Path) -> str:
    """Return all that lies in a folder's files, what is packed in them, too."""
    found = (text for _, text in texts(folder))
    return b"\n".join(found).decode(errors="replace")
