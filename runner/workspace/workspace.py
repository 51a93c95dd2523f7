"""The agent's checkout, and beside it the witness's own repository of the same base.

The agent may do to its `.git` what it likes: its work is still compared with, and
committed on, a base that it could not change by accident. Neither repository knows a
remote's address.

A checkout may lack submodules and Git LFS files, which lie on other servers that want
tokens of their own. The sentences on them quote nothing from the repository.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from msgspec import Struct

from convoy.events.session_events import TaskStarted
from convoy.model import ids
from grite import git, trusted_programs
from grite.errors import GitFailed, Unavailable
from grite.remote import Remote
from runner.box.surroundings import STORE
from runner.inputs.job_inputs import Inputs
from runner.workspace import repositories
from runner.workspace.handoff import fetch_near


class Folders(Struct, frozen=True):
    scratch: Path
    """The witness's folder: its store, the engine's home."""
    checkout: Path


@contextmanager
def fresh_folders(inputs: Inputs) -> Iterator[Folders]:
    with _fresh(inputs.temp) as scratch, _fresh(inputs.workspace) as checkout:
        yield Folders(Path(scratch), Path(checkout))


@contextmanager
def _fresh(parent: Path) -> Iterator[str]:
    parent.mkdir(parents=True, exist_ok=True)
    # Files that an agent made unremovable stay; the machine is for one job, or swept.
    made = TemporaryDirectory(prefix="brat-", dir=parent, ignore_cleanup_errors=True)
    try:
        yield made.name
    finally:
        try:
            made.cleanup()
        except RecursionError:  # Python gives up at a thousand folders in one another
            argv = (trusted_programs.found("rm"), "-rf", "--", made.name)
            subprocess.run(argv, check=False, stderr=subprocess.DEVNULL)


class Workspace(Struct, frozen=True):
    folder: Path
    store: Path
    """The witness's repository; its index knows the files of `folder`."""
    base: str
    branch: str

    @property
    def ref(self) -> str:
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
        """Run git on the checkout with the witness's store; raises as `git.run`."""
        env = {
            "GIT_DIR": str(self.store),
            "GIT_WORK_TREE": str(self.folder),
            "GIT_ALLOW_PROTOCOL": "file",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_CONFIG_GLOBAL": str(self.store / repositories.EVERY_OWNER),
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


def prepare_workspace(
    inputs: Inputs, started: TaskStarted, folder: Path, scratch: Path
) -> Workspace:
    """Check the base out into `folder`, an empty folder."""
    branch = ids.task_branch(started.convoy, started.task)
    workspace = Workspace(folder, scratch / STORE, started.base, branch)
    repositories.create_bare(workspace.store, workspace.branch)
    # For earlier work, fetch its root too, so that a diff shows the work.
    goes_on = started.salvaged or started.resolves is not None
    beside = (started.root,) if goes_on else ()
    fetch_near(inputs, workspace.store, workspace.base, *beside)
    repositories.point_ref(workspace.store, workspace.ref, workspace.base)
    _name(inputs, workspace, started.root or started.base)
    workspace.git("read-tree", "--reset", "-u", "HEAD", deadline_s=git.DEADLINE_S)
    shutil.copytree(workspace.store, folder / ".git")
    repositories.configure_agents(folder / ".git")
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


SUBMODULES: Final = (
    "This repository has submodules, which are not checked out here: their folders are "
    "empty. They cannot be changed."
)
LFS: Final = (
    "What .gitattributes gives to Git LFS is not here: such files are pointers, three "
    "lines of text. Leave them alone, and add none: what you write to such a file is "
    "left out of your work."
)
_READ_BYTES: Final = 100_000
_ATTRIBUTES: Final = ":(glob)**/.gitattributes"


def missing_content(workspace: Workspace) -> tuple[str, ...]:
    """Return the parts that a fresh checkout lacks, a sentence or two each."""
    folder = workspace.folder
    asked = ("ls-files", "-z", "--", _ATTRIBUTES)
    listed = workspace.git(*asked, deadline_s=git.DEADLINE_S).stdout.split(b"\0")
    files = (folder / os.fsdecode(each) for each in listed if each)
    has_lfs = any(b"filter=lfs" in _start_of(file) for file in files)
    has_modules = bool(_start_of(folder / ".gitmodules"))
    return (*((SUBMODULES,) if has_modules else ()), *((LFS,) if has_lfs else ()))


def _start_of(file: Path) -> bytes:
    if file.is_symlink() or not file.is_file():
        return b""
    with file.open("rb") as source:
        return source.read(_READ_BYTES)
