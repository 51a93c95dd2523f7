"""Starting the process of a run, finding it again, and clearing up after it."""

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from brat.forge.service import programs
from brat.forge.service.run_environment import Place


@dataclass(frozen=True, slots=True)
class How:
    """How runs are started and ended."""

    executor: tuple[str, ...] = ()
    """Another program that starts the runs; empty: our own runner."""
    tasks_only: bool = False
    """Run only the files of task runs: a bot on this machine does the rest."""
    interrupt_s: float = 7.5
    """How long a cancelled run has after SIGINT."""
    terminate_s: float = 2.5
    """How long it has after the SIGTERM that follows. Both are GitHub's:
    https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-cancellation
    """
    feed: Path | None = None
    """The folder of the bot on this machine that receives what sessions send live."""

    @property
    def argv(self) -> tuple[str, ...]:
        """The program that is started."""
        return self.executor or (sys.executable, "-I", "-m", "runner")


LIKE_GITHUB: Final = How()


def launch(
    argv: tuple[str, ...],
    place: Place,
    env: Mapping[str, str],
    handed: Mapping[str, bytes],
) -> subprocess.Popen[bytes]:
    """Start a process that lives on when the forge dies.

    Each value of `handed` travels through a pipe whose number is in the variable that
    its key names: it can be read once, and is in no process's environment.

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
    """Return the read end of a pipe that holds a short text; the stack closes it."""
    read, write = os.pipe()
    stack.callback(os.close, read)
    os.write(write, said)
    os.close(write)
    return read


def find(place: Place) -> int | None:
    """Return the pid of a run's process, recognised by its environment."""
    for process in psutil.process_iter():
        try:
            if process.environ().get("BRAT_RESULT") == str(place.result):
                return process.pid
        except (psutil.Error, OSError):
            continue
    return None


def reap(child: subprocess.Popen[bytes] | None) -> int | None:
    """Return the exit status of an ended child, and kill the processes it left."""
    if child is None:
        return None
    programs.end_group(child.pid)
    return child.wait()
