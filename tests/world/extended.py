"""The CLI with a local forge that has all of the tests' world: faults, Apps, limits."""

from pathlib import Path

from tests.world.github_forge.injected_faults import Faults
from tests.world.plugin import python_with
from tests.world.terminal import Terminal

PACKAGE = {"name": "brat-forge-of-the-tests", "version": "1"}
EXTENSION = "tests.world.github_forge.extension"


def python(folder: Path, extend: str = "github") -> Path:
    return python_with(folder, PACKAGE, {"brat.forge": {"x": f"{EXTENSION}:{extend}"}})


def extended(terminal: Terminal, extend: str = "github") -> Terminal:
    """Let `brat`, typed there, start a forge with the tests' world; return it.

    `extend` names the function that extends the forge; `rules` for these alone.
    """
    path = python(terminal.home, extend)
    terminal.install("brat", f'exec {path} -I -m brat "$@"\n')
    return terminal


def faults(terminal: Terminal) -> Faults:
    """Return what the terminal's forge refuses; `brat init` came before."""
    return Faults(forge_folder(terminal))


def forge_folder(terminal: Terminal) -> Path:
    return terminal.cwd / ".git/brat/forge"
