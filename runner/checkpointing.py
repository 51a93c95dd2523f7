"""The witness's side of checkpoints: when one is taken, and what becomes of it.

Each is taken by a process of its own (`runner.checkpoint`) that is begun, and buried,
by whoever supervises the agent, and ends with it. One that fails is not missed.
"""

import contextlib
import math
import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from convoy import ids
from convoy.events import TaskStarted
from runner import engines
from runner.boxing import boxed
from runner.checkpoint import BYTES, Errand, copied, kept_in, said
from runner.inputs import Inputs
from runner.workspace import STORE, Workspace

FOLDER: Final = "checkpoint"
"""In the witness's scratch folder."""


class Checkpoints:
    """Takes one of a session's work now and then; for one thread."""

    def __init__(
        self,
        inputs: Inputs,
        started: TaskStarted,
        workspace: Workspace,
        litter: tuple[str, ...],
        keep: Callable[[bytes], None],
    ) -> None:
        """Give each bundle to `keep`; leave out new files that `litter` names."""
        self._inputs = inputs
        self._started = started
        self._workspace = workspace
        self._litter = (*engines.litter(started.engine.type), *litter)
        self._keep = keep
        self._scratch = workspace.store.parent
        self._folder = self._scratch / FOLDER
        self._process: subprocess.Popen[bytes] | None = None
        self._held = contextlib.ExitStack()
        self._next = time.monotonic() + started.limits.checkpoint_s

    def due_s(self) -> float:
        """Return in how many seconds one is to be begun; infinite while one is."""
        if self._process is not None:
            return math.inf
        return max(0.0, self._next - time.monotonic())

    def begin(self) -> None:
        """Begin to take one; whoever buries the process says so with `ended`."""
        self._next = time.monotonic() + self._started.limits.checkpoint_s
        with contextlib.suppress(OSError):  # no room, no process: perhaps the next time
            self._prepare()
            self._start()

    def ended(self, statuses: Mapping[int, int]) -> None:
        """Hear which processes have ended, by their ids."""
        process = self._process
        if process is None or process.pid not in statuses:
            return
        process.returncode = os.waitstatus_to_exitcode(statuses[process.pid])
        self.close()
        with contextlib.suppress(OSError):
            if bundle := _read(kept_in(self._folder)):
                self._keep(bundle)

    def close(self) -> None:
        """Let go of one that was begun; it has ended, or is not waited for."""
        self._process = None
        self._held.close()

    def _start(self) -> None:
        argv = (sys.executable, "-I", "-m", "runner.checkpoint", str(self._folder))
        checkout, inputs = self._workspace.folder, self._inputs
        box = self._held.enter_context(
            boxed(argv, checkout, self._scratch, inputs, also=(self._folder,))
        )
        try:
            self._process = subprocess.Popen(
                box.argv if box else argv,
                cwd=self._folder,
                env={"PATH": inputs.path},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=box.fds if box else (),
                start_new_session=True,
            )
        except OSError:
            self.close()
            raise

    def _prepare(self) -> None:
        if self._folder.is_dir():
            return
        self._folder.mkdir(mode=0o700)
        copied(self._workspace.store, self._folder / STORE)
        started = self._started
        branch = ids.task_branch(started.convoy, started.task)
        errand = Errand(
            checkout=str(self._workspace.folder),
            base=self._workspace.base,
            branch=self._workspace.branch,
            title=started.title,
            trailer=f"Brat-Task: {branch}",
            litter=self._litter,
            gate=started.gate,
            limits=started.limits,
        )
        said(self._folder, errand)


def _read(file: Path) -> bytes:
    """Take a bundle away and return it; empty: there is none, or nothing like one."""
    try:
        number = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return b""
    file.unlink()
    with os.fdopen(number, "rb") as source:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            return b""
        found = source.read(BYTES + 1)
    return found if len(found) <= BYTES else b""
