"""The agent's checkout, and beside it the witness's own repository of the same base.

The agent may do to its `.git` what it likes: its work is still compared with, and
committed on, a base that it could not change by accident. Neither repository knows a
remote's address. After the agent has run, git only works in the witness's repository,
whose configuration is written anew first, so it obeys nothing that the agent left in a
`.git`. A bare repository is written without git: no template, no hooks. It is not
GitPython, whose import takes 130 ms: as much as all of a runner.

The witness reads the agent's repository with its own rights. One that refers to other
objects, by alternates, by a link or from a server on this disk, could so hand over
files that the agent cannot read.
https://git-scm.com/docs/gitrepository-layout

A checkout may lack submodules and Git LFS files, which lie on other servers that want
tokens of their own. The sentences on them quote nothing from the repository.
"""

import math
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from msgspec import Struct

from convoy.events.session_events import TaskStarted
from convoy.model import ids
from convoy.text import AUTHOR
from grite import git, trusted_programs
from grite.errors import GitFailed, Unavailable
from grite.remote import Remote
from runner.box.surroundings import STORE, read_hostile
from runner.inputs.job_inputs import BadInput, Inputs, default_branch

_NAME, _EMAIL = AUTHOR
_ORIGIN: Final = "refs/remotes/origin/"
_TAGS: Final = "refs/tags/"

EVERY_OWNER = "every-owner.config"
"""A file in the witness's repository: it makes git read a repository that another user
owns. Git asks for this in the user's own configuration, nowhere else.
https://git-scm.com/docs/git-config#Documentation/git-config.txt-safedirectory
"""
WHO_COMMITS: Final = f"[user]\n\tname = {_NAME}\n\temail = {_EMAIL}\n"
_CONFIG = f"""\
{WHO_COMMITS}\
[core]
\trepositoryFormatVersion = 0
\tbare = false
\tsafecrlf = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[advice]
\taddEmbeddedRepo = false
"""
_WITNESS_CONFIG = f"""\
{_CONFIG}\
[core]
\tlogAllRefUpdates = false
\tattributesFile = /dev/null
\texcludesFile = /dev/null
[fetch]
\tunpackLimit = 1
"""
# What is fetched stays packed: to write a file for each object, and to copy those files
# for the agent, was a tenth of all the work.


def create_bare(path: Path, branch: str) -> None:
    """Make an empty repository where there is none, whose HEAD names `branch`."""
    for folder in ("objects", "refs"):
        (path / folder).mkdir(parents=True)
    (path / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
    configure_own(path)


def configure_own(path: Path) -> None:
    """Give the witness's repository its configuration, whatever it has now."""
    config = path / "config"
    config.unlink(missing_ok=True)  # it may have become a link
    config.write_text(_WITNESS_CONFIG)
    (path / EVERY_OWNER).write_text("[safe]\n\tdirectory = *\n")


def ignore_files(path: Path, patterns: Iterable[str]) -> None:
    """Let git ignore files, in a repository that is no link to another's."""
    exclude = path / "info/exclude"
    if path.is_symlink() or exclude.parent.is_symlink():
        return
    exclude.parent.mkdir(exist_ok=True)
    exclude.unlink(missing_ok=True)  # it may have become a link
    text = "".join(f"{each}\n" for each in patterns)
    exclude.write_text(text, encoding="utf-8", errors="surrogateescape")


def point_ref(path: Path, ref: str, commit: str) -> None:
    """Point a ref at `commit`, in a repository that nobody else uses."""
    file = path / ref
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{commit}\n")


def ref_value(path: Path, ref: str) -> str:
    """Return the commit that a ref points at; raise FileNotFoundError if packed."""
    return (path / ref).read_text().strip()


LOOKED_MOST: Final = 200_000
"""The most files and folders to check; git would have packed so many objects."""
_ELSEWHERE: Final = (
    *("commondir", "objects/info/alternates", "objects/info/http-alternates"),
    "config.worktree",
)
_CONFIG_BYTES: Final = 1_000_000
_LAZY: Final = re.compile(b"promisor|partialclone|include", re.IGNORECASE)
"""Settings that make git before 2.39.4 fetch missing objects, or read other files."""


def has_foreign_objects(repository: Path) -> bool:
    """Whether any object may lie outside; True also if this cannot be found out."""
    elsewhere = any(os.path.lexists(repository / each) for each in _ELSEWHERE)
    config = read_hostile(repository / "config", _CONFIG_BYTES)
    is_read = 0 < len(config) < _CONFIG_BYTES
    objects = repository / "objects"
    if elsewhere or not is_read or _LAZY.search(config) or objects.is_symlink():
        return True
    try:
        found = list(islice(_links(objects), LOOKED_MOST))
    except OSError:
        return True
    return len(found) == LOOKED_MOST or any(found)


def _links(folder: Path, depth: int = 1) -> Iterator[bool]:
    """Yield, for each file that git reads below a folder, whether it is a link."""
    with os.scandir(folder) as entries:
        for entry in entries:
            yield entry.is_symlink()
            if depth and entry.is_dir(follow_symlinks=False):
                yield from _links(Path(entry.path), depth - 1)


def fetch(inputs: Inputs, into: Path, *commits: str) -> None:
    """Fetch commits without their history."""
    try:
        Remote(inputs.url, into, inputs.token).fetch(commits, depth=1)
    except GitFailed as error:
        raise cannot_fetch(inputs, commits, error) from error


def cannot_fetch(inputs: Inputs, commits: Iterable[str], why: GitFailed) -> BadInput:
    return BadInput(f"Cannot fetch {' and '.join(commits)} from {inputs.url}: {why}.")


def _pack_here(inputs: Inputs, forge: Path, store: Path, base: str, root: str) -> None:
    """Bring two commits of the local forge without their history, as a fetch would.

    It names tags on them, and origin's branches. A fetch takes six processes instead of
    two, and looks at each object three times instead of once.
    https://git-scm.com/docs/git-pack-objects
    """
    branch, ends = default_branch(inputs) or "HEAD", {base, root}
    point_ref(store, _ORIGIN + branch, root)
    form = "--format=%(objectname) %(*objectname) %(refname)"
    pack = ("--shallow-file", "", "pack-objects", "--revs", "--shallow", "-q")
    into = store / "objects/pack"
    into.mkdir()
    try:
        told = git.run(("for-each-ref", form, _TAGS, _ORIGIN), cwd=forge).stdout
        wanted = [*ends]
        for line in git.lines(told):
            at, peeled, ref = line.split(" ", 2)
            if ref.startswith(_ORIGIN):
                point_ref(store, ref, root)
            elif (peeled or at) in ends:
                point_ref(store, ref, at)
                wanted.append(at)
        lines = "".join(f"--shallow {each}\n" for each in ends) + "\n".join(wanted)
        git.run((*pack, str(into / "pack")), cwd=forge, stdin=lines.encode())
    except GitFailed as error:
        raise cannot_fetch(inputs, ends, error) from error
    (store / "shallow").write_text("".join(f"{each}\n" for each in ends))


def _copied(inputs: Inputs, into: Path, commits: Iterable[str]) -> bool:
    """Fetch commits from this machine's own mirror, and say whether it has them.

    It may be missing, older than a commit, or another user's, whose repositories git
    serves only if git's own configuration allows it. Its objects are copied, for it may
    go at any time. It need not be trusted, since git checks objects against names.
    https://git-scm.com/docs/git-config#Documentation/git-config.txt-safedirectory
    """
    if inputs.objects is None:
        return False
    mirror = inputs.objects.joinpath(*inputs.url.split("/")[-2:]).resolve()
    options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--depth=1")
    asked = ("fetch", *options, "--", f"file://{mirror}", *commits)
    try:
        git.run(asked, cwd=into, env={"GIT_CONFIG_GLOBAL": str(into / EVERY_OWNER)})
    except (GitFailed, Unavailable, OSError):
        return False
    return True


@contextmanager
def fresh(parent: Path) -> Iterator[Path]:
    """Yield a new folder, which the block's end removes."""
    parent.mkdir(parents=True, exist_ok=True)
    made = mkdtemp(prefix="brat-", dir=parent)
    try:
        yield Path(made)
    finally:
        _remove(made)


def _remove(folder: str) -> None:
    """Remove a folder in which an agent worked.

    Not as `TemporaryDirectory` does: where a link cannot be removed, Python before
    3.11.8 makes what it leads to its owner's alone, wherever that is (CVE-2023-6597).
    Files that an agent made unremovable stay; the machine is for one job, or swept.
    """
    # Python gives up at a thousand folders in one another.
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if not os.path.lexists(folder):
        return
    for words in (("chmod", "-R", "u+rwx"), ("rm", "-rf")):  # which follow no links
        argv = (trusted_programs.found(words[0]), *words[1:], "--", folder)
        subprocess.run(argv, check=False, stderr=subprocess.DEVNULL)


class Workspace(Struct, frozen=True):
    folder: Path
    store: Path
    """The witness's repository; its index knows the files of `folder`."""
    base: str
    branch: str
    deadline: float | None = None
    """By the monotonic clock: after it each call of git gets a tenth of a second."""
    memory_bytes: int | None = None
    """What each git process may take; None: without a limit."""

    @property
    def ref(self) -> str:
        return f"refs/heads/{self.branch}"

    def mentions(self, part: bytes) -> bool:
        """Whether the index may hold this, a name's end or a mode; if not, it has none.

        It was written by our git, so it is of a version that holds names whole:
        https://git-scm.com/docs/gitformat-index
        """
        return part in (self.store / "index").read_bytes()

    def git(
        self,
        *args: str,
        index: Path | None = None,
        stdin: bytes | None = None,
        check: bool = True,
        most_s: float = math.inf,
    ) -> git.Completed:
        """Run git on the checkout with the witness's store; raises as `git.run`."""
        left_s = git.DEADLINE_S
        if self.deadline is not None:
            left_s = max(0.1, self.deadline - time.monotonic())
        env = {
            "GIT_DIR": str(self.store),
            "GIT_WORK_TREE": str(self.folder),
            "GIT_ALLOW_PROTOCOL": "file",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_CONFIG_GLOBAL": str(self.store / EVERY_OWNER),
            **({"GIT_INDEX_FILE": str(index)} if index else {}),
        }
        return git.run(
            args,
            cwd=self.store,
            env=env,
            stdin=stdin,
            check=check,
            deadline_s=min(most_s, left_s),
            memory_bytes=self.memory_bytes,
        )

    def paths(self, command: str, *args: str) -> list[str]:
        """Return the paths that a command of git lists."""
        listed = self.git(command, "-z", *args).stdout
        return [*filter(None, os.fsdecode(listed).split("\0"))]


def prepare_workspace(
    inputs: Inputs, started: TaskStarted, folder: Path, scratch: Path
) -> Workspace:
    """Check the base out into `folder`, an empty folder."""
    branch = ids.task_branch(started.convoy, started.task)
    workspace = Workspace(folder, scratch / STORE, started.base, branch)
    create_bare(workspace.store, workspace.branch)
    _fetch_base(inputs, workspace, started)
    point_ref(workspace.store, workspace.ref, workspace.base)
    workspace.git("read-tree", "--reset", "-u", "HEAD")
    shutil.copytree(workspace.store, folder / ".git")
    (folder / ".git/config").write_text(_CONFIG)  # which only says who commits
    return workspace


def _fetch_base(inputs: Inputs, workspace: Workspace, started: TaskStarted) -> None:
    """Fetch the base, and name it as a clone does: by its tags, and origin's branches.

    These are where the work began, so that a diff shows all of it. What cannot be
    named does not matter. One call of git brings everything, and tags only because it
    also sets a ref: https://git-scm.com/docs/git-fetch (automatic tag following)
    """
    store, base, root = workspace.store, started.base, started.root or started.base
    if inputs.forge:
        _pack_here(inputs, inputs.forge, store, base, root)
        return
    remote = Remote(inputs.url, store, inputs.token)
    is_here = _copied(inputs, store, {base, root})
    try:
        branch = default_branch(inputs) or remote.default_branch() or "HEAD"
        named = f"{root}:{_ORIGIN}{branch}"
        # A local forge has the default branch of the person's origin, too.
        others = () if is_here else (f"{_ORIGIN}*:{_ORIGIN}*",)
        remote.fetch((base, named, *others), None if is_here else 1, tags=True)
    except (GitFailed, Unavailable) as error:
        if is_here:
            return
        if isinstance(error, Unavailable):
            raise
        goes_on = started.salvaged or started.resolves is not None
        fetch(inputs, store, base, *((root,) if goes_on else ()))
    for each in filter(Path.is_file, (store / _ORIGIN).rglob("*")):
        point_ref(store, str(each.relative_to(store)), root)


SUBMODULES: Final = (
    "This repository has submodules, which are not checked out here. Their folders are "
    "empty, and you cannot change them."
)
LFS: Final = (
    "The files that .gitattributes assigns to Git LFS are not here. You see three-line "
    "pointers. Do not change or add such files: brat leaves them out."
)
_READ_BYTES: Final = 100_000
ATTRIBUTES: Final = ".gitattributes"
IGNORES: Final = ".gitignore"


def missing_content(workspace: Workspace) -> tuple[str, ...]:
    """Return the parts that a fresh checkout lacks, a sentence or two each."""
    folder = workspace.folder
    is_there = workspace.mentions(ATTRIBUTES.encode())
    asked = ("ls-files", "--", f":(glob)**/{ATTRIBUTES}")
    files = (folder / each for each in (workspace.paths(*asked) if is_there else ()))
    has_lfs = any(b"filter=lfs" in read_hostile(file, _READ_BYTES) for file in files)
    has_modules = bool(read_hostile(folder / ".gitmodules", _READ_BYTES))
    return (*((SUBMODULES,) if has_modules else ()), *((LFS,) if has_lfs else ()))
