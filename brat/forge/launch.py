"""Starting the process of a run, finding it again, and clearing up after it."""

import os
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack

import psutil

from brat.forge import processes
from brat.forge.run_environment import Place


def launch(
    argv: tuple[str, ...],
    place: Place,
    env: Mapping[str, str],
    handed: Mapping[str, bytes],
) -> subprocess.Popen[bytes]:
    """Start a process that lives on when the forge dies.

    What is handed to it travels through pipes whose numbers are in the variables that
    `handed` names: it can be read once, and is in nobody's environment.

    Raises:
        OSError: it could not be started.
    """
    with ExitStack() as stack:
        pipes = {name: _filled(stack, said) for name, said in handed.items()}
        with place.log.open("wb") as log:
            return subprocess.Popen(
                argv,
                cwd=place.workspace,
                env={**env, **{name: str(pipe) for name, pipe in pipes.items()}},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=tuple(pipes.values()),
                start_new_session=True,
            )


def _filled(stack: ExitStack, said: bytes) -> int:
    """Return the end to read of a pipe that holds a few words; the stack closes it."""
    read, write = os.pipe()
    stack.callback(os.close, read)
    os.write(write, said)
    os.close(write)
    return read


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
