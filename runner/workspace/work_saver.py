"""Saves a running agent's work from time to time.

`python -I -m runner.workspace.work_saver FOLDER`, which `WorkSaver` starts, saves it.
The folder gets a bundle when the work has changed since the last time and the patch
gate would let it land. The agent works on meanwhile and could replace a file while git
reads it. So this runs in a box like the agent's, where it can only read what the agent
can read itself. The supervisor of the agent starts and reaps that process. If one
fails, the next one does its work.
"""

import contextlib
import math
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from convoy.events.session_events import TaskStarted
from convoy.model import ids
from runner.box.agent_box import Room, boxed
from runner.box.surroundings import STORE, read_hostile
from runner.workspace.attempt_commits import (
    AttemptCommits,
    gate_refusals,
    without_leaks,
)
from runner.workspace.workspace import Workspace

FOLDER: Final = "checkpoint"
BYTES: Final = 8_000_000
"""The largest bundle; larger work is not saved before the session's end."""
FILE_BYTES: Final = 64_000_000
"""The largest file that git may write while saving."""
LONGEST_S: Final = 60.0
_ORDER, _BUNDLE, _TREE, _USED = "order.json", "new.bundle", "tree", "used.git"
_NICE: Final = 10


class _Order(msgspec.Struct, frozen=True):
    checkout: str
    litter: tuple[str, ...]
    started: TaskStarted


class WorkSaver(msgspec.Struct):
    """Saves one session's work; for one thread."""

    _room: Room
    _started: TaskStarted
    _workspace: Workspace
    _litter: tuple[str, ...]
    """New files to leave out, patterns as in .gitignore."""
    _keep: Callable[[bytes], None]
    """Takes each bundle."""
    _process: subprocess.Popen[bytes] | None = None
    _held: contextlib.ExitStack = msgspec.field(default_factory=contextlib.ExitStack)
    _next: float = 0.0

    def __post_init__(self) -> None:
        self._next = time.monotonic() + self._started.limits.checkpoint_s

    @property
    def _folder(self) -> Path:
        return self._workspace.store.parent / FOLDER

    def go_on(self) -> float:
        """Do what is due, and return in how many seconds more is: `Order.side_task`."""
        if self._process and self._process.poll() is not None:
            self.close()
        if self._process is None and time.monotonic() >= self._next:
            self._begin()
        return math.inf if self._process else max(0.0, self._next - time.monotonic())

    def _begin(self) -> None:
        workspace, folder = self._workspace, self._folder
        self._next = time.monotonic() + self._started.limits.checkpoint_s
        program = (sys.executable, "-I", "-m", "runner.workspace.work_saver")
        argv = (*program, str(folder))
        with contextlib.suppress(OSError):  # no room, no process: perhaps the next time
            if not folder.is_dir():
                folder.mkdir(mode=0o700)
                _copy(workspace.store, folder / STORE)
                order = _Order(str(workspace.folder), self._litter, self._started)
                (folder / _ORDER).write_bytes(msgspec.json.encode(order))
            begun = boxed(argv, self._room, (), (folder,), keeps_user=True)
            box = self._held.enter_context(begun)
            self._process = subprocess.Popen(
                box.argv,
                cwd=folder,
                env={"PATH": self._room.sight.path},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=box.fds,
                start_new_session=True,
            )
        if self._process is None:
            self.close()

    def close(self) -> None:
        """Take what the process left, which has ended or which nobody waits for."""
        if self._process:
            self._process.poll()  # else Python warns that it still runs
        self._process = None
        self._held.close()
        file = self._folder / _BUNDLE
        with contextlib.suppress(OSError):
            bundle = read_hostile(file, BYTES + 1)
            file.unlink(missing_ok=True)
            if bundle and len(bundle) <= BYTES:
                self._keep(bundle)


def _copy(source: Path, target: Path) -> None:
    """Copy a repository; its objects are linked, since nobody changes them."""

    def copy(one: str, other: str) -> None:
        is_object = one.startswith(f"{source / 'objects'}{os.sep}")
        (os.link if is_object else shutil.copy2)(one, other)

    shutil.copytree(source, target, copy_function=copy)


def main(argv: list[str]) -> int:
    """Write a bundle if there is new work; returns 0 in either case."""
    folder = Path(argv[0])
    os.nice(_NICE)  # the agent comes first
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, most))
    order = msgspec.json.decode((folder / _ORDER).read_bytes(), type=_Order)
    used, known = folder / _USED, folder / _TREE
    shutil.rmtree(used, ignore_errors=True)  # of one that was killed or failed
    _copy(folder / STORE, used)
    started = order.started
    branch = ids.task_branch(started.convoy, started.task)
    workspace = Workspace(Path(order.checkout), used, started.base, branch)
    commits = AttemptCommits(workspace, LONGEST_S, order.litter)
    work = commits.keep(started.title, half_done=True)
    work = without_leaks(work, workspace, started.gate)
    if work.bundle and not gate_refusals(work, started):
        found = workspace.git("rev-parse", "HEAD^{tree}").stdout
        is_new = not known.is_file() or known.read_bytes() != found
        if is_new and work.bundle.stat().st_size <= BYTES:
            work.bundle.replace(folder / _BUNDLE)
            known.write_bytes(found)
    shutil.rmtree(used, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
