"""Packages of npm, as their lock file pins them, in a folder that git does not see."""

import subprocess
from pathlib import Path

from filelock import FileLock

WAIT_S = 300


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
        quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
        subprocess.run(["npm", "ci", *quiet], cwd=folder, check=True, timeout=WAIT_S)
        done.write_bytes(lock.read_bytes())
    return modules
