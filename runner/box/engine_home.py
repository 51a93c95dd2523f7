"""An engine's HOME: the files it finds there, and those it leaves."""

import os
from collections.abc import Mapping
from pathlib import Path

from grite import outbound
from runner.box import toolchains
from runner.box.hostile_file import read_hostile
from runner.inputs.job_inputs import Inputs

LEFT_BYTES = 10_000_000


def create(scratch: Path) -> Path:
    """Make the session's home, and beside it the folder `tmp`."""
    home = scratch / "home"
    home.mkdir()
    (scratch / "tmp").mkdir()
    return home


def plain_environment(inputs: Inputs, home: Path, temp: Path) -> dict[str, str]:
    """Return the variables that every program of a session gets."""
    return {
        # First, so that programs that the project's setup script installs win.
        "PATH": f"{home / '.local/bin'}{os.pathsep}{inputs.path}",
        "HOME": str(home),
        "TMPDIR": str(temp),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "CI": "true",
        # git uses no credential helper, and no repository above the checkout.
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CEILING_DIRECTORIES": str(inputs.workspace),
        **toolchains.named_in(inputs.offered),
        **outbound.named_in(inputs.offered).without_passwords(),
    }


def prepare(home: Path, files: Mapping[str, str]) -> None:
    """Write the files into a fresh home, for its owner alone."""
    for name, text in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")


def left_in(home: Path, name: str) -> str:
    """Return the text of a file that the engine left, or "" if there is none."""
    return read_hostile(home / name, LEFT_BYTES).decode("utf-8", "replace")
