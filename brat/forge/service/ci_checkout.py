"""The checkout that a CI job runs in: a commit's tree and nothing else.

Its objects are those of the forge's repository. Its files are those of an earlier job,
brought to the commit by git, so that only what differs is written. A job finds what a
fresh checkout would hold all the same: .git is made anew, what git does not track is
removed, and which files are as git wrote them is told by an index that was put aside
before the earlier job began. Where that cannot be sure, the checkout is a fresh one.
"""

import os
import shlex
import shutil
import stat
import subprocess
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Self

import pygit2
from pygit2.enums import FileMode

from brat.forge.resources.forge_records import Ci
from brat.forge.service import programs
from brat.forge.service.programs import HIDDEN, SHOWN, told_places
from brat.forge.storage.git_storage import Bare
from grite import git, outbound
from grite.errors import BratError, GitFailed, Unavailable
from runner.box import agent_box, surroundings
from runner.box.agent_box import Box, BoxReport, NetworkExit, Room, boxed
from runner.box.surroundings import Sight
from runner.proxy.proxy_protocol import REGISTRIES, ProxyOrder, reachable_hosts
from runner.session.proxy_client import ProxyClient

CHECKOUT_S: Final = 300.0
WORK: Final = "work"
"""The checkout, in a job's folder."""
_INDEX: Final = "index"
"""The index of the checkout as git wrote it, beside it; missing: never use it again."""
_COMMIT: Final = "commit"
"""The commit that the index is of."""
_HEADS: Final = "refs/heads/"
_ORIGIN: Final = "refs/remotes/origin/"
_TAGS: Final = "refs/tags/"


class _Unsure(BratError):
    """An earlier job's files may not become a fresh checkout's."""


def checkout(bare: Bare, commit: str, job: Path, own: Path | None) -> list[str]:
    """Check a commit out into `work` in a job's folder.

    Returns a sentence on each submodule that is not there.
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


def take_kept(folder: Path, job: Path) -> None:
    """Make a job's folder, from one of an earlier job where `folder` keeps one."""
    job.parent.mkdir(parents=True, exist_ok=True)
    for kept in [*folder.glob("*")]:
        try:
            kept.rename(job)  # also where it is in use: so only one gets it
        except OSError:
            continue
        return
    job.mkdir()


def keep_tree(folder: Path, job: Path, most: int) -> None:
    """Move the folder of an ended job into `folder`, where at most `most` are kept.

    What can be used no more is removed, and what an earlier run of the job left stays.
    A program that the job left behind would write into the next job's files.
    """
    is_whole = (job / _INDEX).is_file() and not (job / WORK).is_symlink()
    is_whole = is_whole and not (folder / job.name).exists()
    if is_whole and len([*folder.glob("*")]) < most and not programs.inside(job):
        for left in [*job.iterdir()]:
            if left.name not in (WORK, _INDEX, _COMMIT):
                _remove(left)
        folder.mkdir(parents=True, exist_ok=True)
        job.rename(folder / job.name)
    else:
        shutil.rmtree(job, ignore_errors=True)


def _renew(bare: Bare, commit: str, job: Path) -> None:
    """Bring an earlier job's files to a commit.

    What is not tracked goes before anything is written: git would heed a left
    .gitattributes.
    """
    work = job / WORK
    if not (job / _INDEX).is_file():
        raise _Unsure("nothing was kept")
    before = (job / _COMMIT).read_text(encoding="ascii")
    try:
        changed = pygit2.Repository(str(bare.path)).diff(before, commit).deltas
    except (pygit2.GitError, KeyError) as error:
        raise _Unsure(f"{before} is gone") from error
    paths = (each.path for one in changed for each in (one.old_file, one.new_file))
    if any(path.rpartition("/")[2] == ".gitattributes" for path in paths):
        raise _Unsure("other files may need to be rewritten")
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

    It knows the tags, the default branch and that of the person's origin, as a clone.
    """
    try:
        pygit2.init_repository(str(work))
        anew = Bare(bare.path)  # this may be another thread
        refs, name = anew.refs(), anew.head.removeprefix(_HEADS)
    except pygit2.GitError as error:
        raise Unavailable(f"the checkout cannot be prepared: {error}") from error
    borrowed = work / ".git" / "objects" / "info" / "alternates"
    borrowed.parent.mkdir(parents=True, exist_ok=True)
    borrowed.write_text(f"{bare.path / 'objects'}\n")
    named = _TAGS, _ORIGIN
    known = {ref: target for ref, target in refs.items() if ref.startswith(named)}
    if tip := refs.get(_HEADS + name):
        known[_ORIGIN + name] = known[_HEADS + name] = tip
    lines = "".join(f"{target} {ref}\n" for ref, target in known.items())
    (work / ".git" / "packed-refs").write_text(lines, encoding="utf-8")
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
    index = job / WORK / ".git" / "index"
    try:
        modes = {entry.mode for entry in pygit2.Index(str(index))}
    except pygit2.GitError as error:
        raise Unavailable(f"{index} cannot be read: {error}") from error
    if FileMode.COMMIT not in modes:
        (job / _COMMIT).write_text(commit, encoding="ascii")
        shutil.copy2(index, job / _INDEX)


SUBMODULE_S: Final = 120.0
DEEPEST: Final = 10
"""How far submodules may lie inside one another."""
_FILES: Final = ("-c", "protocol.file.allow=always")
"""Git fetches no submodule from a path unless it is told to.
https://git-scm.com/docs/git-config (protocol.allow)
"""


def fill(work: Path, bare: Bare, own: Path | None) -> list[str]:
    """Check out the submodules of a checkout of `bare`.

    They come from where the person's own checkout has them, and from nowhere else, for
    this runs in no box, and as that person. One that cannot be fetched is left empty if
    their checkout does without it, too: a sentence on each is returned. Another one
    raises `Unavailable`, with a sentence.
    """
    origin, kept = str(bare.path), None
    if own is not None:  # relative addresses are relative to its own, as for git
        said = _read(own, "config", "remote.origin.url")
        near = said.startswith(".")
        origin = str((own / said).resolve()) if near else said or str(own)
        common = _read(own, "rev-parse", "--git-common-dir")
        kept = own / common if common else None
    return _fill(work, origin, kept, own)


def _fill(
    folder: Path, origin: str, kept: Path | None, own: Path | None, depth: int = 1
) -> list[str]:
    """Check out the submodules of a checkout from `origin`, and theirs.

    `own` is the person's own checkout, `kept` the git folder of their copy; `depth`
    says how far the checkout lies inside others.
    """
    left = []
    git.run(["config", "remote.origin.url", origin], cwd=folder)
    for name, path in _submodules(folder):
        known = _read(own, "config", f"submodule.{name}.url") if own else None
        copy = kept / "modules" / name if kept else None
        try:
            url = _fetch(folder, name, path, copy, known)
        except (GitFailed, Unavailable, _Unsure) as error:
            said = f"the submodule {path} cannot be fetched: {error}"
            if own is None or known:
                raise Unavailable(said) from error
            mend = shlex.join(("git", "submodule", "update", "--init", "--", path))
            left.append(f"{path} is empty in your checkout; to fetch it, run `{mend}`.")
            continue
        if depth < DEEPEST and (folder / path / ".gitmodules").is_file():
            within = own / path if own else None
            left += _fill(folder / path, url, copy, within, depth + 1)
    return left


def _fetch(
    folder: Path, name: str, path: str, copy: Path | None, known: str | None
) -> str:
    """Check out one submodule; return its address.

    Args:
        folder: the checkout.
        name: its name in .gitmodules.
        path: its folder.
        copy: where the person's own copy may be.
        known: where their own checkout has it from; None: there is no such checkout.
    """
    git.run(["submodule", "--quiet", "init", "--", path], cwd=folder)
    url = _read(folder, "config", f"submodule.{name}.url")
    wanted = _read(folder, "rev-parse", f":{path}")
    if copy is not None and _holds(copy, wanted):
        git.run(["config", f"submodule.{name}.url", str(copy)], cwd=folder)
    elif known is not None and url != known:
        mend = shlex.join(("git", "submodule", "sync", "--", path))
        said = f"it now comes from {url}, but your checkout uses {known}"
        raise _Unsure(f"{said}: run `{mend}` if you trust that address")
    files = _FILES if known is not None else ()
    update = ["submodule", "--quiet", "update", "--", path]
    git.run([*files, *update], cwd=folder, deadline_s=SUBMODULE_S)
    return url


def _submodules(folder: Path) -> list[tuple[str, str]]:
    """Return the name and path of each submodule that .gitmodules lists."""
    asked = ["config", "-z", "-f", ".gitmodules", "--get-regexp", r"\.path$"]
    said = git.run(asked, cwd=folder, check=False).stdout.decode(errors="replace")
    listed = (line.partition("\n") for line in said.split("\0") if line)
    return [
        (key.removeprefix("submodule.").removesuffix(".path"), path)
        for key, _, path in listed
    ]


def _holds(repository: Path, commit: str) -> bool:
    asked = ["cat-file", "-e", f"{commit}^{{commit}}"]
    return (
        repository.is_dir() and git.run(asked, cwd=repository, check=False).status == 0
    )


def _read(folder: Path, *args: str) -> str:
    """Return the line that a git command prints; empty: it failed."""
    return git.run(args, cwd=folder, check=False).stdout.decode().strip()


_OF_GIT: Final = r"^(user\.name|user\.email|init\.defaultbranch)$"
"""What tests that use git take for granted where a person has configured it."""


class CiBox:
    """One job's box. Its methods wait for processes: call them in a thread."""

    def __init__(self, settings: Ci, job: Path, borrowed: Path, forge: Path) -> None:
        self._settings = settings
        self._job = job
        own = programs.plain_environment()
        sight = Sight(
            path=own["PATH"],
            home=os.path.expanduser("~"),  # noqa: PTH111  also where there is none
            tools=surroundings.own_tool_variables(),
            shown=(borrowed, *told_places(SHOWN)),
            hidden=(forge, *told_places(HIDDEN)),
        )
        home, temporary = job / "home", job / "tmp"
        boxed_in = settings.box == "on"
        self._room = Room(job / WORK, home, temporary, sight, is_boxed=boxed_in)
        self._stack = ExitStack()
        self._box: Box | None = None
        # A job that is cancelled cannot stop the thread that opens its box: `close`
        # waits for it, and it opens nothing after a `close`.
        self._lock = threading.Lock()
        self._is_closed = False
        self.proxy: ProxyClient | None = None
        """What somebody has to wait for while the command runs."""
        self.refused: list[str] = []
        """The hosts that the command was not let reach; whole after `close`."""
        self.argv: tuple[str, ...] = ("sh", "-c", settings.command or "true")
        self.fds: tuple[int, ...] = ()
        own |= surroundings.own_sources(own, job / WORK)
        self.env = own | {"HOME": str(home), "TMPDIR": str(temporary), "CI": "true"}

    def open(self) -> Self:
        """Make the folders, the way to its hosts and the box.

        Raises `OSError`.
        """
        with self._lock:
            if not self._is_closed:
                self._open()
        return self

    def _open(self) -> None:
        for each in (self._room.home, self._room.temporary):
            each.mkdir()
        identity = _identity(self._settings.checkout)
        (self._room.home / ".gitconfig").write_bytes(identity)
        hosts = reachable_hosts(self._settings.egress, by_default=False)
        if self._settings.egress is None:
            hosts = REGISTRIES
        way: NetworkExit = ()
        if hosts is not None and self._room.is_boxed:
            offered = outbound.here().variables
            proxy = ProxyClient(ProxyOrder(egress=hosts), offered, is_boxed=True)
            self._stack.callback(proxy.close)
            self.proxy, self.refused = proxy, proxy.refused
            way = proxy.way()
            self.env |= proxy.environment()
        self._box = self._stack.enter_context(boxed(self.argv, self._room, way))
        self.argv, self.fds = self._box.argv, self._box.fds

    def close(self) -> BoxReport:
        """Take the folders back and return what the box reports; safe to call twice."""
        with self._lock:
            self._is_closed = True
            box, self._box = self._box, None
        try:
            return box.report() if box else BoxReport()
        finally:
            self._stack.close()
            if os.getuid() == 0:
                agent_box.give_folders(self._room.owned(), os.getuid())


_identities: dict[tuple[str, str], bytes] = {}


def _identity(checkout: str) -> bytes:
    """Return the person's name and address as git knows them in their checkout.

    Git is asked until it knows both; a later change counts for the next forge.
    """
    where = checkout if os.path.isdir(checkout) else "/"  # noqa: PTH112  "" is none
    place = where, os.path.expanduser("~")  # noqa: PTH111  also where there is none
    if place in _identities:
        return _identities[place]
    asked = ["git", "config", "--null", "--get-regexp", _OF_GIT]
    try:
        told = subprocess.run(
            asked, cwd=where, capture_output=True, check=False, timeout=CHECKOUT_S
        )
    except subprocess.TimeoutExpired:
        return b""
    found: dict[str, str] = {}
    for each in told.stdout.decode(errors="surrogateescape").split("\0"):
        key, _, value = each.partition("\n")
        section, _, name = key.partition(".")
        if value:
            found[key] = f"[{section}]\n\t{name} = {git.quoted(value)}\n"
    text = "".join(found.values()).encode(errors="surrogateescape")
    if {"user.name", "user.email"} <= found.keys():
        _identities[place] = text
    return text
