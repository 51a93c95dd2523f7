"""Starting the process of a run, finding it again, and clearing up after it."""

import os
import subprocess
from collections.abc import Mapping

import psutil

from brat.forge import processes
from brat.forge.run_environment import Place


def launch(
    argv: tuple[str, ...], place: Place, env: Mapping[str, str], token: str
) -> subprocess.Popen[bytes]:
    """Start a process that lives on when the forge dies.

    The token travels through a pipe whose number is in BRAT_TOKEN_FD: it can be read
    once, and is in nobody's environment.

    Raises:
        OSError: it could not be started.
    """
    read, write = os.pipe()
    try:
        os.write(write, token.encode())
        os.close(write)
        with place.log.open("wb") as log:
            return subprocess.Popen(
                argv,
                cwd=place.workspace,
                env={**env, "BRAT_TOKEN_FD": str(read)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(read,),
                start_new_session=True,
            )
    finally:
        os.close(read)


def find(place: Place) -> int | None:
    """Return the process that works for a run, known by its environment."""
    for process in psutil.process_iter():
        try:
            if process.environ().get("BRAT_RESULT") == str(place.result):
                return process.pid
        except (psutil.Error, OSError):
            continue
    return None


def reap(child: subprocess.Popen[bytes] | None) -> int | None:
    """Return the status of a child that has ended, and end what it left running."""
    if child is None:
        return None
    processes.end_group(child.pid)
    return child.wait()
