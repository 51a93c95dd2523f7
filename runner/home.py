"""An engine's HOME: what it finds there, and what it leaves.

What it leaves was written by an agent, so it is read as a hostile file: no link,
nothing but a file, and so much of it.
"""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from runner.inputs import Inputs

LEFT_BYTES = 10_000_000


def create(scratch: Path) -> Path:
    """Make the session's home, and beside it `tmp` for what is temporary."""
    home = scratch / "home"
    home.mkdir()
    (scratch / "tmp").mkdir()
    return home


def plain_environment(inputs: Inputs, home: Path, temp: Path) -> dict[str, str]:
    """Return what every program of a session finds in its environment."""
    return {
        # First, so that what the project's own script installs there wins.
        "PATH": f"{home / '.local/bin'}{os.pathsep}{inputs.path}",
        "HOME": str(home),
        "TMPDIR": str(temp),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "CI": "true",
        # Nobody's credential helper, and no repository above the checkout.
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CEILING_DIRECTORIES": str(inputs.workspace),
    }


def prepare(home: Path, files: Mapping[str, str]) -> None:
    """Write the files into a fresh home, for its owner alone."""
    for name, text in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")


def left_in(home: Path, name: str) -> str:
    """Return the text of a file that the engine left; empty when it left none."""
    try:
        number = os.open(home / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    with open(number, "rb") as file:  # noqa: PTH123  a descriptor has no path
        if not stat.S_ISREG(os.fstat(number).st_mode):
            return ""
        return file.read(LEFT_BYTES).decode("utf-8", "replace")
