"""Saves a running agent's work from time to time.

A process of its own does it (`runner.workspace.save_work`). The supervisor of the agent
starts and reaps that process, which ends with the agent. If one fails, the next one
does its work.
"""

import contextlib
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from convoy.events.session_events import TaskStarted
from convoy.model import ids
from runner import engines
from runner.box.agent_box import boxed_for_us, session_room
from runner.box.surroundings import STORE, read_hostile
from runner.inputs.job_inputs import Inputs
from runner.workspace.save_work import BYTES, SaveOrder, bundle_in, copied, write_order
from runner.workspace.workspace import Workspace

FOLDER: Final = "checkpoint"
"""The folder's name, in the witness's scratch folder."""


class WorkSaver:
    """Saves one session's work; for one thread."""

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
        """Return the seconds until the next save is due; infinite while one runs."""
        if self._process is not None:
            return math.inf
        return max(0.0, self._next - time.monotonic())

    def begin(self) -> None:
        """Start the process; whoever reaps it must call `ended`."""
        self._next = time.monotonic() + self._started.limits.checkpoint_s
        with contextlib.suppress(OSError):  # no room, no process: perhaps the next time
            self._prepare()
            self._start()

    def ended(self, statuses: Mapping[int, int]) -> None:
        """Take the wait statuses of processes that have ended, by their ids."""
        process = self._process
        if process is None or process.pid not in statuses:
            return
        process.returncode = os.waitstatus_to_exitcode(statuses[process.pid])
        self.close()
        with contextlib.suppress(OSError):
            if bundle := _read(bundle_in(self._folder)):
                self._keep(bundle)

    def close(self) -> None:
        """Forget the process, which has ended or which nobody waits for."""
        self._process = None
        self._held.close()

    def _start(self) -> None:
        argv = (
            sys.executable,
            "-I",
            "-m",
            "runner.workspace.save_work",
            str(self._folder),
        )
        checkout, inputs = self._workspace.folder, self._inputs
        is_boxed = self._started.box == "on"
        room = session_room(inputs, checkout, self._scratch, is_boxed=is_boxed)
        box = self._held.enter_context(boxed_for_us(argv, room, (self._folder,)))
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
        order = SaveOrder(
            checkout=str(self._workspace.folder),
            base=self._workspace.base,
            branch=self._workspace.branch,
            title=started.title,
            trailer=f"Brat-Task: {branch}",
            litter=self._litter,
            gate=started.gate,
            limits=started.limits,
        )
        write_order(self._folder, order)


def _read(file: Path) -> bytes:
    """Remove the bundle and return it; empty: there is none, or it is too large."""
    found = read_hostile(file, BYTES + 1)
    with contextlib.suppress(FileNotFoundError):
        file.unlink()
    return found if len(found) <= BYTES else b""
