"""The checkout that a CI job runs in: a commit's tree and nothing else.

Its objects are those of the forge's repository. Its files are those of an earlier job,
brought to the commit by git, so that only what differs is written. A job finds what a
fresh checkout would hold all the same: .git is made anew, what git does not track is
removed, and which files are as git wrote them is told by an index that was put aside
before the earlier job began. Where that cannot be sure, the checkout is a fresh one.
"""

import os
import shutil
import stat
from pathlib import Path
from typing import Final

from brat.forge.service import programs
from brat.forge.service.ci_submodules import fill
from brat.forge.storage.git_storage import Bare
from grite import git
from grite.errors import BratError, GitFailed, Unavailable

CHECKOUT_S: Final = 300.0
WORK: Final = "work"
"""The checkout, in a job's folder."""
_INDEX: Final = "index"
"""The index of the checkout as git wrote it, beside it; missing: never use it again."""
_COMMIT: Final = "commit"
"""The commit that the index is of."""
_ATTRIBUTES: Final = ":(glob)**/.gitattributes"
_HEADS: Final = "refs/heads/"
_ORIGIN: Final = "refs/remotes/origin/"
_LISTED: Final = "--format=%(objectname) %(refname)"
_SUBMODULE: Final = b"\n160000 "


class _Unsure(BratError):
    """An earlier job's files may not become a fresh checkout's."""


def checkout(bare: Bare, commit: str, job: Path, own: Path | None) -> list[str]:
    """Check a commit out into `work` in a job's folder.

    Returns a sentence on each submodule that is not there.

    Args:
        bare: has the commit.
        commit: what to check out.
        job: the job's folder; it may hold what an earlier job left (`keep`).
        own: the person's own checkout; None: there is none.

    Raises:
        GitFailed: git could not.
        NoSubmodule: a submodule could not be fetched.
        Unavailable: it took too long.
    """
    work = job / WORK
    try:
        _renew(bare, commit, job)
    except (_Unsure, GitFailed, Unavailable, OSError):
        if work.exists():
            _remove(work)
        _prepare(bare, work)
        _switch(work, commit)
    _put_aside(job, commit)
    has_submodules = (work / ".gitmodules").is_file()
    return fill(work, bare, own) if has_submodules else []


class KeptTrees:
    """The checkouts of ended jobs in a folder, for those that follow."""

    def __init__(self, folder: Path) -> None:
        """Keep them in `folder`, which an earlier process may have filled."""
        self._folder = folder

    def take(self, job: Path) -> None:
        """Make a job's folder, from an earlier job's where one is kept."""
        job.parent.mkdir(parents=True, exist_ok=True)
        for kept in self._kept():
            try:
                kept.rename(job)  # also where it is in use: so only one gets it
            except OSError:
                continue
            return
        job.mkdir()

    def keep(self, job: Path, most: int) -> None:
        """Take over the folder of an ended job; what can be used no more is removed.

        A program that the job left behind would write into the next job's files.

        Args:
            job: the folder.
            most: how many are kept.
        """
        is_whole = (job / _INDEX).is_file() and not (job / WORK).is_symlink()
        if is_whole and len(self._kept()) < most and not programs.inside(job):
            for left in [*job.iterdir()]:
                if left.name not in (WORK, _INDEX, _COMMIT):
                    _remove(left)
            self._folder.mkdir(parents=True, exist_ok=True)
            job.rename(self._folder / job.name)
        else:
            shutil.rmtree(job, ignore_errors=True)

    def _kept(self) -> list[Path]:
        return [*self._folder.glob("*")]


def _renew(bare: Bare, commit: str, job: Path) -> None:
    """Bring an earlier job's files to a commit.

    What is not tracked goes before anything is written: git would heed a left
    .gitattributes.
    """
    work = job / WORK
    if not (job / _INDEX).is_file():
        raise _Unsure("nothing was kept")
    before = (job / _COMMIT).read_text(encoding="ascii")
    asked = ["diff", "--quiet", before, commit, "--", _ATTRIBUTES]
    git.run(asked, cwd=bare.path, deadline_s=CHECKOUT_S)
    shutil.rmtree(work / ".git")
    _prepare(bare, work)
    shutil.move(job / _INDEX, work / ".git" / "index")
    git.run(["clean", "-ffdxq"], cwd=work, deadline_s=CHECKOUT_S)
    _switch(work, commit)
    if not _is_as_made(work, stat.S_IMODE((work / ".git").stat().st_mode)):
        raise _Unsure("a mode was changed")


def _is_as_made(folder: Path, mode: int) -> bool:
    """Say whether all in a folder, and it itself, has the mode that git gave it.

    A change of mode within the second of the checkout is one that git does not see.

    Args:
        folder: it.
        mode: what new folders get.
    """
    files = {mode & 0o666, mode & 0o777}
    if stat.S_IMODE(folder.stat().st_mode) != mode:
        return False
    with os.scandir(folder) as found:
        for each in found:
            if each.is_dir(follow_symlinks=False):
                if each.name != ".git" and not _is_as_made(Path(each.path), mode):
                    return False
            elif each.is_file(follow_symlinks=False):
                seen = stat.S_IMODE(each.stat(follow_symlinks=False).st_mode)
                if seen not in files:
                    return False
    return True


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink()


def _prepare(bare: Bare, work: Path) -> None:
    """Make the repository of a checkout, which borrows the objects of `bare`.

    It knows the tags, and the default branch as a clone does.
    """
    git.run(["init", "--quiet", "--template=", str(work)], deadline_s=CHECKOUT_S)
    borrowed = work / ".git" / "objects" / "info" / "alternates"
    borrowed.parent.mkdir(parents=True, exist_ok=True)
    borrowed.write_text(f"{bare.path / 'objects'}\n")
    head = (bare.path / "HEAD").read_text(encoding="utf-8").strip()
    name = head.removeprefix(f"ref: {_HEADS}")
    asked = ["for-each-ref", _LISTED, "refs/tags/", f"{_HEADS}{name}"]
    listed = git.run(asked, cwd=bare.path, deadline_s=CHECKOUT_S).stdout.decode()
    known = listed.replace(f" {_HEADS}{name}\n", f" {_ORIGIN}{name}\n")
    (work / ".git" / "packed-refs").write_text(known, encoding="utf-8")
    link = work / ".git" / _ORIGIN / "HEAD"
    link.parent.mkdir(parents=True)
    link.write_text(f"ref: {_ORIGIN}{name}\n", encoding="utf-8")


def _switch(work: Path, commit: str) -> None:
    asked = ["checkout", "--quiet", "--force", "--detach", commit]
    git.run(asked, cwd=work, deadline_s=CHECKOUT_S)


def _put_aside(job: Path, commit: str) -> None:
    """Keep the index from the job; a checkout with submodules is not used again.

    The copy has the index's own time: by it git knows which files may have changed
    within the same second. https://git-scm.com/docs/racy-git
    """
    (job / _INDEX).unlink(missing_ok=True)
    asked = ["ls-files", "--stage"]
    listed = git.run(asked, cwd=job / WORK, deadline_s=CHECKOUT_S).stdout
    if _SUBMODULE not in b"\n" + listed:
        (job / _COMMIT).write_text(commit, encoding="ascii")
        shutil.copy2(job / WORK / ".git" / "index", job / _INDEX)
