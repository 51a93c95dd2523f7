"""The agent's checkout, and beside it the witness's own store with the same base.

Two repositories: the agent may do to its `.git` what it likes, and what it did is still
compared with, and committed on, a base it could not change by accident. Neither knows
a remote.
"""

import shutil
from pathlib import Path
from typing import Final

from msgspec import Struct

from convoy import ids
from convoy.events import TaskStarted
from grite import git
from runner import store
from runner.inputs import Inputs
from runner.task import fetch_near

STORE: Final = "store.git"
"""The witness's repository, in its scratch folder."""


class Workspace(Struct, frozen=True):
    """Where one attempt works."""

    folder: Path
    """The agent's checkout."""
    store: Path
    """The witness's repository; its index knows the files of `folder`."""
    base: str
    branch: str

    @property
    def ref(self) -> str:
        """The full name of the branch, in both repositories."""
        return f"refs/heads/{self.branch}"

    def git(
        self,
        *args: str,
        deadline_s: float,
        stdin: bytes | None = None,
        check: bool = True,
        memory_bytes: int | None = None,
    ) -> git.Completed:
        """Run git on the checkout with the witness's store; raises as `git.run`."""
        env = {
            "GIT_DIR": str(self.store),
            "GIT_WORK_TREE": str(self.folder),
            "GIT_ALLOW_PROTOCOL": "file",
            "GIT_NO_LAZY_FETCH": "1",
        }
        return git.run(
            args,
            cwd=self.store,
            deadline_s=deadline_s,
            env=env,
            stdin=stdin,
            check=check,
            memory_bytes=memory_bytes,
        )


def prepare(
    inputs: Inputs, started: TaskStarted, folder: Path, scratch: Path
) -> Workspace:
    """Check the base out into `folder`, an empty folder.

    Raises:
        BadInput: the forge does not give the base.
        Unavailable: the forge does not answer.
    """
    branch = ids.task_branch(started.convoy, started.task)
    workspace = Workspace(folder, scratch / STORE, started.base, branch)
    store.create(workspace.store, workspace.branch)
    # Beside half-done work what it is measured from, so that a diff shows it.
    beside = (started.root,) if started.salvaged else ()
    fetch_near(inputs, workspace.store, workspace.base, *beside)
    store.point(workspace.store, workspace.ref, workspace.base)
    workspace.git("read-tree", "--reset", "-u", "HEAD", deadline_s=git.DEADLINE_S)
    shutil.copytree(workspace.store, folder / ".git")
    store.hand_over(folder / ".git")
    return workspace
