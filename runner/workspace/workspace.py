"""The agent's checkout, and beside it the witness's own repository of the same base.

The agent may do to its `.git` what it likes: its work is still compared with, and
committed on, a base that it could not change by accident. Neither repository knows a
remote's address.
"""

import shutil
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from convoy.events.session_events import TaskStarted
from convoy.model import ids
from grite import git
from grite.errors import GitFailed, Unavailable
from grite.remote import Remote
from runner.box.hidden_paths import STORE
from runner.inputs.job_inputs import Inputs
from runner.workspace import bare_repository
from runner.workspace.handoff import fetch_near


class Workspace(Struct, frozen=True):
    """The repositories in which one attempt works."""

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
        index: Path | None = None,
    ) -> git.Completed:
        """Run git on the checkout with the witness's store; raises as `git.run`.

        Another `index` than the store's own is one for a while.
        """
        env = {
            "GIT_DIR": str(self.store),
            "GIT_WORK_TREE": str(self.folder),
            "GIT_ALLOW_PROTOCOL": "file",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_CONFIG_GLOBAL": str(self.store / bare_repository.EVERY_OWNER),
            **({"GIT_INDEX_FILE": str(index)} if index else {}),
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
    bare_repository.create(workspace.store, workspace.branch)
    # For earlier work, fetch its root too, so that a diff shows the work.
    goes_on = started.salvaged or started.resolves is not None
    beside = (started.root,) if goes_on else ()
    fetch_near(inputs, workspace.store, workspace.base, *beside)
    bare_repository.point(workspace.store, workspace.ref, workspace.base)
    _name(inputs, workspace, started.root or started.base)
    workspace.git("read-tree", "--reset", "-u", "HEAD", deadline_s=git.DEADLINE_S)
    shutil.copytree(workspace.store, folder / ".git")
    bare_repository.hand_over(folder / ".git")
    return workspace


def _name(inputs: Inputs, workspace: Workspace, root: str) -> None:
    """Name what the work builds on as a clone does: by tags, and by origin's branch.

    There are tags only on the commits that were fetched; none is worth a session.
    """
    remote = Remote(inputs.url, workspace.store, inputs.token)
    with suppress(GitFailed, Unavailable):
        seen = remote.advertised(("refs/tags/*",))
        if seen.default_branch:
            ref = f"refs/remotes/origin/{seen.default_branch}"
            told = "update-ref", ref, root
            workspace.git(*told, deadline_s=git.DEADLINE_S)
        fetched = {workspace.base, root}
        found = (name for name, commit in seen.refs.items() if commit in fetched)
        tags = sorted({name.removesuffix("^{}") for name in found})
        remote.fetch([f"{tag}:{tag}" for tag in tags], depth=1)
