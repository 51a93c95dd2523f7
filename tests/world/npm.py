"""Packages of npm, as their lock file pins them, in a folder that git does not see."""

import subprocess
from pathlib import Path
from typing import Final

from filelock import FileLock
from tenacity import retry, stop_after_attempt, wait_fixed

from tests.world.patience import patient

TESTS: Final = Path(__file__).parents[1]
FOLDER: Final = TESTS / "npm"
"""What the tests of a landing need."""
WAIT_S: Final = patient(300)


def installed(folder: Path) -> Path:
    """Install what `folder`/package-lock.json names; return its node_modules.

    Runs no script of any package. Safe to call from many processes, and again: only a
    lock file that changed is installed anew.
    """
    modules, lock = folder / "node_modules", folder / "package-lock.json"
    with FileLock(folder / ".npm-lock", timeout=WAIT_S):
        done = modules / ".brat-installed"
        if done.exists() and done.read_bytes() == lock.read_bytes():
            return modules
        _fetch(folder)
        done.write_bytes(lock.read_bytes())
    return modules


@retry(stop=stop_after_attempt(3), wait=wait_fixed(5), reraise=True)
def _fetch(folder: Path) -> None:
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    command = ["npm", "ci", "--prefer-offline", *quiet]
    subprocess.run(command, cwd=folder, check=True, timeout=WAIT_S)


if __name__ == "__main__":  # before the tests, which wait for no network
    installed(FOLDER)
