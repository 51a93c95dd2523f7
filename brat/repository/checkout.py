"""The person's own repository: read, never changed.

brat reads commits by git and never writes to the work tree, the index or the branches.
brat's own state lies in a folder inside the git directory.

How landed work comes into the checkout is a command to type, if any. It never makes a
merge: it moves the branch forward, or puts the person's own commits on top of what has
landed.
"""

import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pygit2

from brat.forge.storage.git_storage import Bare
from brat.repository import registration as registrations
from brat.repository.registration import (
    CONFIG,
    NO_REPOSITORY,
    STATE_FOLDER,
    Registration,
)
from grite import git
from grite.errors import BratError, GitFailed, Unavailable

if TYPE_CHECKING:
    from convoy.text.project_tests import Proposal

_IDS: Final = "sha1"
_ID_FORM: Final = "extensions.objectformat"
_NAME: Final = "user.name"
_SHOWN: Final = 3
_LONGEST_NAME: Final = 100
_STATE: Final = len("XY ")
"""What `git status` puts before each path: https://git-scm.com/docs/git-status"""


@dataclass(frozen=True, kw_only=True)
class Checkout:
    """A work tree with at least one commit, on a branch."""

    top: Path
    branch: str
    folder: Path
    """The folder of brat's own state for this repository."""

    @property
    def name(self) -> str:
        """The repository's name on the local forge."""
        kept = re.sub(r"[^A-Za-z0-9._-]+", "-", self.top.name)[:_LONGEST_NAME]
        return kept.removesuffix(".git").strip(".-") or "repository"

    @property
    def config(self) -> Path:
        """The configuration as it lies in the work tree, committed or not."""
        return self.top / CONFIG

    def changed_files(self) -> tuple[str, ...]:
        """Return the tracked files that differ from the last commit.

        The person's own git says so: their filters and line ends count.
        """
        # `git diff` may write the index.
        asked = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", "status"]
        asked += ["-z", "--no-renames", "--untracked-files=no"]
        asked += ["--ignore-submodules=dirty"]  # no commit and no stash holds it
        done = subprocess.run(asked, cwd=self.top, capture_output=True, check=False)
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace")
            raise GitFailed(asked, done.returncode, said)
        states = filter(None, os.fsdecode(done.stdout).split("\0"))
        return tuple(sorted(state[_STATE:] for state in states))

    def person(self) -> str:
        """Return a login for whoever works here, from git's user.name."""
        settings = _opened(self.top).config
        try:
            name = (settings[_NAME] if _NAME in settings else "") or ""  # noqa: SIM401  no mapping
        except UnicodeDecodeError:  # git keeps the bytes of any encoding
            name = ""
        kept = "".join(c if c.isascii() and c.isalnum() else "-" for c in name.lower())
        return "-".join(filter(None, kept.split("-")))[:39] or "you"

    def propose_ci(self, kept: str | None = None) -> "Proposal | None":
        """Return the CI command that the files suggest; `kept` if they still do."""
        from convoy.text.project_tests import propose_all

        listed = git.run(["ls-files", "-z"], cwd=self.top).stdout
        files = tuple(filter(None, listed.decode(errors="replace").split("\0")))

        def read(name: str) -> str | None:
            file = self.top / name
            return file.read_text(errors="replace") if file.is_file() else None

        found = propose_all(files, read)
        return next((e for e in found if e.command == kept), next(iter(found), None))


_UNDER_WAY: Final = {
    "rebase-merge": "rebase --continue",
    "rebase-apply": "rebase --continue",
    "BISECT_LOG": "bisect reset",
}
"""What git does on no branch, by a file of its own, and how that ends."""


def find(path: Path) -> Checkout:
    git.require_version()
    pygit2.settings.set_extensions(["partialclone"])  # it only asks for what is missing
    found = pygit2.discover_repository(str(path))
    if found is None:
        raise BratError(NO_REPOSITORY.format(path.resolve()))
    common = common_folder(found).resolve()
    settings = pygit2.Config(str(common / "config"))
    ids = str(settings[_ID_FORM] if _ID_FORM in settings else _IDS).lower()  # noqa: SIM401  no mapping
    if ids != _IDS:
        raise BratError(
            f"{common} uses {ids} object IDs, but brat, like GitHub, supports only "
            f"{_IDS}"
        )
    repo = _whoever_owns_it(str(path))  # not by its git folder, which may lie elsewhere
    if repo.workdir is None:
        raise BratError(f"{path} is a bare repository: choose one with a working tree")
    top = Path(repo.workdir)
    _trust(top, Path(found).resolve(), common)
    if repo.head_is_unborn:
        raise BratError(
            f"{top} has no commits yet, and agents start from a commit: create one, "
            "for example with `git commit --allow-empty -m Begin`"
        )
    if repo.head_is_detached:
        mend = "switch to one with `git switch`"
        for name, ended in _UNDER_WAY.items():
            if (Path(found) / name).exists():
                mend = f"finish the operation in progress, or run `git {ended}`"
        raise BratError(f"{top} is not on a branch: {mend}, then try again")
    return Checkout(top=top, branch=repo.head.shorthand, folder=common / STATE_FOLDER)


def served_here(path: Path) -> Checkout | None:
    """Return the checkout; None: no forge on this machine serves it."""
    try:
        checkout = find(path)
    except BratError:  # a bare repository
        return None
    return checkout if registrations.known(checkout.folder) else None


def common_folder(git_folder: str) -> Path:
    """Return the git folder that all work trees of a repository share.

    https://git-scm.com/docs/gitrepository-layout (commondir)
    """
    folder = Path(git_folder)
    said = folder / "commondir"
    return folder / said.read_text().strip() if said.is_file() else folder


def _whoever_owns_it(git_folder: str) -> pygit2.Repository:
    known = pygit2.option(pygit2.enums.Option.GET_OWNER_VALIDATION)
    pygit2.option(pygit2.enums.Option.SET_OWNER_VALIDATION, False)  # noqa: FBT003  its form
    try:
        return pygit2.Repository(git_folder)
    except pygit2.GitError as error:
        raise BratError(f"{git_folder} cannot be read: {error}") from error
    finally:
        pygit2.option(pygit2.enums.Option.SET_OWNER_VALIDATION, known)


def _trust(*folders: Path) -> None:
    """Work in another user's repository where the person's own git does so."""
    if all(each.stat().st_uid == os.geteuid() for each in folders):
        return
    import git as gitpython  # slow to load

    try:
        gitpython.Git(folders[0]).rev_parse(git_dir=True)
    except gitpython.GitCommandError as error:
        raise BratError(
            f"{folders[0]} belongs to another user, and git refuses to work there: if "
            "you trust it, run `git config --global --add safe.directory "
            f"{shlex.quote(str(folders[0]))}`"
        ) from error
    for each in folders:
        git.trust(each)
    # It knows fewer ways to allow this than git does.
    pygit2.option(pygit2.enums.Option.SET_OWNER_VALIDATION, False)  # noqa: FBT003  its form


def require_clean(checkout: Checkout) -> None:
    """Check that every change of a tracked file is committed.

    Agents start from commits, so they would not see uncommitted changes. The
    configuration is read from the work tree and may be uncommitted.
    """
    changed = [name for name in checkout.changed_files() if name != CONFIG]
    if changed:
        more = f" and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
        raise BratError(
            f"{checkout.top} has uncommitted changes "
            f"({', '.join(changed[:_SHOWN])}{more}): agents start from commits, so "
            f"first {mending(checkout, changed)}"
        )


def mending(checkout: Checkout, changed: Sequence[str]) -> str:
    """Return the words for what makes a checkout clean whose files are changed."""
    moved = [name for name in changed if (checkout.top / name).is_dir()]
    ways = ["commit or stash your changes"] if len(moved) < len(changed) else []
    if moved:
        update = shlex.join(("git", "submodule", "update", "--", *moved))
        ways.append(f"run `{update}`, or commit the submodule's new commit")
    return "; and ".join(ways)


@dataclass(frozen=True)
class Apart:
    """What the checkout's branch and the forge's have that the other has not."""

    landed: bool
    """Whether commits have landed that the checkout lacks."""
    own: bool
    """Whether the checkout has commits that the forge lacks."""


def branches_apart(checkout: Checkout, known: Registration) -> Apart:
    """Compare the branches; what the person had and has rewritten is their own."""
    bare = registrations.bare_path(checkout.folder, known)
    branch = f"refs/heads/{known.branch}"
    own, landed = tip_of(checkout.top, branch), tip_of(bare, branch)
    if own is None or landed is None or own == landed:
        return Apart(landed=landed is not None and own != landed, own=False)
    if landed == tip_of(bare, TAKEN):
        return Apart(landed=False, own=True)
    return Apart(
        landed=not Bare(checkout.top).reaches(own, landed),
        own=not Bare(bare).reaches(landed, own),
    )


TAKEN: Final = "refs/brat/taken"
"""The last tip that both branches had, in the forge's repository."""


def note_taken(checkout: Checkout, known: Registration) -> None:
    bare = registrations.bare_path(checkout.folder, known)
    branch = f"refs/heads/{known.branch}"
    tip = tip_of(bare, branch)
    if tip is not None and tip == tip_of(checkout.top, branch):
        _opened(bare).references.create(TAKEN, tip, force=True)


def landed_commands(checkout: Checkout, known: Registration) -> tuple[list[str], ...]:
    """Return the commands that bring the landed work into the checkout.

    Where the person has another branch checked out, they move the branch alone, in the
    worktree that has it: git refuses to from any other.
    """
    bare = registrations.bare_path(checkout.folder, known)
    is_on, name = branch_of(checkout.top) == known.branch, known.branch
    home = None if is_on else worktree_on(checkout.top, name)
    inside = home is None and bare.is_relative_to(checkout.top)
    where = str(bare.relative_to(checkout.top) if inside else bare)
    command = ["git", *_allowing_files(checkout.top)]
    fetch = [*command, "fetch", where]
    command += ("-C", str(home)) if home else ()
    is_on = is_on or bool(home)
    is_tag = tip_of(bare, f"refs/tags/{name}") is not None  # which git would take
    source = f"refs/heads/{name}" if is_tag else name
    if branches_apart(checkout, known).own:
        rebase = [*command, "pull", "--rebase", where, source]
        return (rebase,) if is_on else (["git", "switch", name], rebase)
    if not is_on:
        return ([*fetch, f"{source}:{source}"],)
    return ([*command, "pull", "--ff-only", where, source],)


def _allowing_files(top: Path) -> tuple[str, ...]:
    """Return what lets git fetch from this machine, if the person's own git does not.

    It is git's default: https://git-scm.com/docs/git-config (protocol.allow)
    """
    settings = _opened(top).config
    names = "protocol.file.allow", "protocol.allow"
    rule = next((settings[name] for name in names if name in settings), "")
    return ("-c", "protocol.file.allow=user") if rule == "never" else ()


def worktree_on(top: Path, branch: str) -> Path | None:
    """Return the worktree that has a branch checked out; None: there is none."""
    listed = git.run(["worktree", "list", "--porcelain", "-z"], cwd=top).stdout
    for each in os.fsdecode(listed).split("\0\0"):
        told = dict(line.partition(" ")[::2] for line in each.split("\0"))
        if told.get("branch") == f"refs/heads/{branch}" and "prunable" not in told:
            return Path(told["worktree"])
    return None


def in_its_way(checkout: Checkout, known: Registration) -> tuple[str, ...]:
    """Return the changed files that git's part of the command would refuse to touch."""
    on = branch_of(checkout.top) == known.branch
    own = branches_apart(checkout, known).own
    changed = checkout.changed_files() if on or own else ()
    if own or not changed:
        return changed
    bare = registrations.bare_path(checkout.folder, known)
    branch = f"refs/heads/{known.branch}"
    tips = tip_of(checkout.top, branch) or branch, branch
    shown = git.run(["diff", "--name-only", "-z", *tips, "--"], cwd=bare).stdout
    return tuple(sorted({*shown.decode(errors="replace").split("\0")} & {*changed}))


def tip_of(where: Path, branch: str) -> str | None:
    """Return what a branch, by its full name, stands at; None: there is none."""
    found = _opened(where).references.get(branch)
    return None if found is None else str(found.resolve().target)


_ORIGIN: Final = "refs/remotes/origin/"


def named_refs(where: Path, branch: str) -> dict[str, str]:
    """Return what each tag names, and origin's default branch unless it is `branch`.

    Git notes which one that is only in a clone; elsewhere it is what most call it.
    """
    references = _opened(where).references
    head = references.get(f"{_ORIGIN}HEAD")
    noted = head.target if head is not None else ""
    defaults = {noted, f"{_ORIGIN}main", f"{_ORIGIN}master"} - {_ORIGIN + branch}
    named = ((os.fsdecode(ref.raw_name), ref) for ref in references.iterator())
    return {
        name: str(ref.target)
        for name, ref in named
        if name in defaults or name.startswith("refs/tags/")
    }


def _opened(where: Path) -> pygit2.Repository:
    try:
        return pygit2.Repository(str(where))
    except pygit2.GitError as error:
        raise Unavailable(f"{where} is no longer a repository: {error}") from error


def branch_of(top: Path) -> str:
    """Return the branch that is checked out; empty: none is."""
    head = _opened(top).lookup_reference("HEAD").target
    return head.removeprefix("refs/heads/") if isinstance(head, str) else ""
