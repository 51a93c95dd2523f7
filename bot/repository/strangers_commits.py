"""A stranger's commits: taken in from a bundle, read within limits, and judged.

Before git 2.46, `git fetch` checks no objects from a bundle, whatever the configuration
says, so the bundle's pack is extracted and checked here. A few hundred bytes can
describe ten levels of folders that each hold the next one ten times; git would list ten
thousand million files. Here each step is counted, and too many steps raise `TooMuch`.

Each commit is examined, not only the last: where commits land one by one, a file that
one commit adds and the next removes would land all the same. Sizes are checked before
contents are read: a file that compresses well may be small in a bundle and endless as a
patch. All of it is examined by a process of its own, a fork of `python -m` of this
module, which dies of what would take the service's memory and its turns.
Source: https://git-scm.com/docs/gitformat-bundle
"""

import atexit
import gc
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple
from unicodedata import normalize

import msgspec
import pygit2
from msgspec import Struct

from convoy import gate
from convoy.model.records import Settings
from grite import git
from grite.errors import BratError, GitFailed, Unavailable

MEMORY_BYTES: Final = 1_000_000_000
"""The memory limit for unpacking: a few bytes may claim to unpack to any size."""
UNPACKED: Final = 100
"""A pack of fewer objects is unpacked, as git does it with a push: a bot takes in
thousands of packs, and each would stay open and be searched.
https://git-scm.com/docs/git-config#Documentation/git-config.txt-transferunpackLimit
"""
_COUNT: Final = slice(8, 12)
"""Where a pack says how many objects it has.
https://git-scm.com/docs/gitformat-pack
"""
_Kind: Final = pygit2.enums.ObjectType
_MARKS: Final = (b"# v2 git bundle\n", b"# v3 git bundle\n")
_KNOWN: Final = re.compile(rb"^-([0-9a-f]{40})\b", re.MULTILINE)
"""What the repository has to have already."""
_REACHED: Final = ["pack-objects", "--revs", "--thin", "--local", "--stdout", "-q"]


class NoBundle(BratError):
    """The file is not a bundle of one branch's work."""


class NoSuchRef(NoBundle):
    """The bundle is whole, and does not have the ref."""


def take_in_bundle(bundle: Path, repository: Path, ref: str = "HEAD") -> str:
    """Bring a bundle's objects into a repository; return the commit of its ref.

    No ref moves, and what the commit does not reach stays out. Safe to call again.

    Raises:
        NoBundle: the file is no bundle, or takes too long to unpack.
        NoSuchRef: it lacks the ref.
        GitFailed: an object is malformed, or refers to a missing object.
    """
    data = bundle.read_bytes()
    header, end, pack = data.partition(b"\n\n")
    if not (end and data.startswith(_MARKS)):
        raise NoBundle("it is not a git bundle")
    head = re.search(f"^([0-9a-f]{{40}}) {ref}$".encode(), header, re.MULTILINE)
    if head is None:
        raise NoSuchRef(f"it has no {ref}")
    commit = head[1].decode()
    known = [each.decode() for each in _KNOWN.findall(header)]
    wanted = "\n".join([commit, "--not", *known, ""]).encode()
    repo = pygit2.Repository(str(repository))
    objects = f"{repo.path}objects"
    # On the same disk, and by such a name, as git's own are: it removes what is left.
    with tempfile.TemporaryDirectory(prefix="tmp_objdir-brat-", dir=objects) as aside:
        there = {
            "GIT_OBJECT_DIRECTORY": aside,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": git.quoted(objects),  # it may hold ":"
        }
        try:
            _unpack(pack, repository, there)
            if _moved(commit, Path(aside), Path(objects), repo):
                return commit
            reached = git.run(
                _REACHED,
                cwd=repository,
                stdin=wanted,
                env=there,
                memory_bytes=MEMORY_BYTES,
                check=False,
            )
        except Unavailable as error:
            raise NoBundle(str(error)) from error
    if reached.status:
        raise NoBundle("it does not contain the commit that it names")
    _unpack(reached.stdout, repository, {})
    return commit


def _unpack(pack: bytes, repository: Path, env: Mapping[str, str]) -> None:
    args = ["index-pack", "--stdin", "--strict", "--fix-thin"]
    if int.from_bytes(pack[_COUNT]) < UNPACKED:
        args = ["unpack-objects", "-q", "--strict"]
    git.run(args, cwd=repository, stdin=pack, env=env, memory_bytes=MEMORY_BYTES)


FOLDER_BYTES: Final = 1_000_000
"""A larger folder or message is not read here."""


def _moved(commit: str, aside: Path, objects: Path, repo: pygit2.Repository) -> bool:
    """Move what a commit reaches from `aside` into `objects`; False: git has to.

    Git has checked that nothing aside refers to what is missing. What an object refers
    to is moved before it, so wherever this ends, what is there is there with all of it.
    """
    files = {f"{each.parent.name}{each.name}": each for each in aside.glob("??/*")}
    repo.odb.add_disk_alternate(str(aside))
    heads = {name: repo.odb.read_header(pygit2.Oid(hex=name)) for name in files}
    most = max((n for kind, n in heads.values() if kind != _Kind.BLOB), default=0)
    if commit not in files or most > FOLDER_BYTES:
        return False

    def move(name: str) -> None:
        file = files.pop(name, None)
        if file is None:  # it is there
            return
        found: object = None if heads[name][0] == _Kind.BLOB else repo[name]
        if isinstance(found, pygit2.Commit):
            move(str(found.tree_id))
            for parent in found.parent_ids:
                move(str(parent))
        elif isinstance(found, pygit2.Tree):
            for each in found:
                move(str(each.id))
        into = objects / name[:2]
        into.mkdir(exist_ok=True)
        file.rename(into / name[2:])

    move(commit)
    return True


COMMITS_MOST: Final = 1_000
COMMIT_BYTES: Final = 100_000
"""The size limit of a commit object without its files: mostly its message."""
LOOKED_MOST: Final = 2_000_000
"""The most folder entries read, over all commits."""
CHANGED_MOST: Final = 50_000
DEPTH_MOST: Final = 100


class TooMuch(BratError):
    """The work is too large to be examined; the message is a sentence saying why."""


class CommitRange:
    """Reads ranges of commits in one repository; all reads share the same limits."""

    def __init__(self, repository: Path) -> None:
        self._repo = pygit2.Repository(str(repository))
        self._looked = self._changed = 0
        self.commits: list[str] = []
        """Those that `steps` has read, the newest first."""

    def whole(self, base: str, commit: str) -> list[gate.PathChange]:
        return list(self._between(self._tree(base), self._tree(commit)))

    def steps(self, base: str, commit: str) -> list[gate.PathChange]:
        """Return the changes of each commit after `base` against each parent."""
        found: list[gate.PathChange] = []
        walk = self._repo.walk(commit, pygit2.enums.SortMode.NONE)
        walk.hide(base)
        for count, each in enumerate(walk, 1):
            if count > COMMITS_MOST:
                raise TooMuch(f"The work has more than {COMMITS_MOST} commits.")
            if len(each.read_raw()) > COMMIT_BYTES:
                raise TooMuch(f"A commit message exceeds {COMMIT_BYTES} bytes.")
            self.commits.append(str(each.id))
            for parent in each.parent_ids or (None,):
                before = self._tree(str(parent)) if parent else None
                found += self._between(before, each.tree)
        return found

    def twins(self, commit: str, changes: Iterable[gate.PathChange]) -> tuple[str, ...]:
        """Return a sentence on names that not every machine can hold; or nothing."""
        new = (e.path for e in changes if e.mode_before == gate.GONE)
        tree = self._tree(commit)
        found = sorted(path for path in new if has_twin(tree, path))
        differs = "a name that differs from another only in case or Unicode form"
        return (f"The patch adds {differs}: {gate.path_list(found)}.",) if found else ()

    def _tree(self, commit: str) -> pygit2.Tree:
        return self._repo[commit].peel(pygit2.Commit).tree

    def _between(
        self, before: pygit2.Tree | None, after: pygit2.Tree
    ) -> Iterator[gate.PathChange]:
        left: list[tuple[bytes, int, pygit2.Object | None, pygit2.Object | None]]
        left = [(b"", 0, before, after)]
        while left:
            folder, depth, old, new = left.pop()
            if depth > DEPTH_MOST:
                raise TooMuch(f"The work nests folders over {DEPTH_MOST} levels deep.")
            olds, news = self._entries(old), self._entries(new)
            for name in olds.keys() | news.keys():
                was, now = olds.get(name), news.get(name)
                if was == now:
                    continue
                path = folder + name
                kinds = {each.mode == _FOLDER for each in (was, now) if each}
                if False in kinds:
                    yield self._touched(path, was, now)
                if True in kinds:
                    old_one, new_one = self._folder(was), self._folder(now)
                    left.append((path + b"/", depth + 1, old_one, new_one))

    def _touched(
        self, path: bytes, was: "_Entry | None", now: "_Entry | None"
    ) -> gate.PathChange:
        self._changed += 1
        if self._changed > CHANGED_MOST:
            raise TooMuch(f"The work changes more than {CHANGED_MOST} files.")
        before, after = (
            each if each and each.mode != _FOLDER else _NO_FILE for each in (was, now)
        )
        name = path.decode(errors="surrogateescape")
        blobs = before.id.hex(), after.id.hex()
        return gate.PathChange(name, before.mode, after.mode, *blobs)

    def _folder(self, entry: "_Entry | None") -> pygit2.Object | None:
        if entry is None or entry.mode != _FOLDER:
            return None
        return self._repo[pygit2.Oid(raw=entry.id)]

    def _entries(self, tree: pygit2.Object | None) -> dict[bytes, "_Entry"]:
        if not isinstance(tree, pygit2.Tree):
            return {}
        self._looked += len(tree)
        if self._looked > LOOKED_MOST:
            raise TooMuch(f"The work has more than {LOOKED_MOST} files and folders.")
        found = _ENTRY.findall(tree.read_raw())
        return {name: _Entry(f"{int(mode, 8):06o}", id_) for mode, name, id_ in found}


class _Entry(NamedTuple):
    """A file or folder, with its mode as it is written: readers differ in odd ones.

    To git, 120755 is a symbolic link; to libgit2, it is an executable file.
    """

    mode: str
    id: bytes


_FOLDER: Final = "040000"
_NO_FILE: Final = _Entry(gate.GONE, bytes(20))
_ENTRY: Final = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)
"""https://git-scm.com/book/en/v2/Git-Internals-Git-Objects#_tree_objects"""


_WORKFLOWS: Final = (".github/workflows/**",)
FILES_BYTES: Final = 200_000_000
"""The limit for all changed files together, as each commit leaves them."""
READ_BYTES: Final = 20_000_000
"""A patch that is too large and longer than this is not searched for secrets."""
PROCESSOR_S: Final = 20
"""What the examination may take of a processor, and again each git that it starts."""
WAIT_S: Final = 600.0
"""After this long an examination is ended."""
SLACK_S: Final = 30.0
_BEGUN: Final = b"+"
"""What an examiner says first: one that says no more died of its limits."""


class Patch(Struct, frozen=True, kw_only=True):
    files: tuple[str, ...]
    """The changed paths, in printable form."""
    refusals: tuple[str, ...]
    """The reasons why the work may not land, one sentence each; empty: it may."""
    keeps: bool = True
    """Whether refused work can still be kept: it is not too large, the forge takes it,
    and it shows no apparent secret. GitHub rejects a commit that touches a workflow if
    the pusher may not write workflows."""
    is_large: bool = False
    """Whether the work is refused for its size."""


def examined_patch(
    repository: Path,
    base: str,
    commit: str,
    settings: Settings,
    memory_bytes: int = MEMORY_BYTES,
) -> Patch:
    """Return what `base..commit` changes and the gate's judgement on it; blocking.

    A patch that cannot be read, or costs too much to read, is refused.

    Raises:
        BratError: the process that reads it does not run here.
    """
    asked = _Asked(str(repository), base, commit, settings, memory_bytes)
    said = EXAMINERS.answer(msgspec.json.encode(asked))
    try:
        found = msgspec.json.decode(said, type=Patch | str)
    except msgspec.DecodeError:  # it was ended before its answer was whole
        why = "The work cannot be examined within the memory and time limits."
        return Patch(files=(), refusals=(why,), keeps=False, is_large=True)
    if isinstance(found, str):
        raise BratError(f"the process that examines work failed: {found}")
    return found


class _Asked(Struct, frozen=True):
    repository: str
    base: str
    commit: str
    settings: Settings
    memory_bytes: int


class Examiners:
    """A process that has this module loaded, and forks one of its own for each patch.

    To load it takes 90 ms of a processor, to fork it a few. It is asked through a
    socket without a name, which nobody else on the machine can reach, and ends when
    that closes. It reads no request itself: a fork does, and knows of no other.
    Several threads may ask at once.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._ours: socket.socket | None = None
        self.process: subprocess.Popen[bytes] | None = None
        """The one that forks; None: nothing is to be examined yet."""

    def answer(self, asked: bytes) -> bytes:
        """Return what an examiner answers; it may die before it has said all."""
        try:
            ours, theirs = socket.socketpair()
            with ours, theirs:
                with self._turn:
                    self._hand_over(theirs)
                theirs.close()
                ours.settimeout(WAIT_S + SLACK_S)
                ours.sendall(asked)
                ours.shutdown(socket.SHUT_WR)
                with ours.makefile("rb") as answer:
                    said = answer.read()
        except OSError as error:
            raise BratError(f"work cannot be examined here: {error}") from error
        if not said:
            raise BratError("the process that examines work was stopped; try again")
        return said.removeprefix(_BEGUN)

    def begin(self) -> None:
        """Start the process if there is none, so that it is loaded when it is asked."""
        with self._turn, suppress(OSError):  # it is tried again when it is asked
            if self._ours is None:
                self._start()

    def _hand_over(self, theirs: socket.socket) -> None:
        if self._ours is not None:
            with suppress(OSError):  # it was killed: another one begins
                socket.send_fds(self._ours, [b"+"], [theirs.fileno()])
                return
            self.end()
        ours = self._start()
        socket.send_fds(ours, [b"+"], [theirs.fileno()])

    def _start(self) -> socket.socket:
        self._ours, given = socket.socketpair()
        with given:
            self.process = subprocess.Popen(
                (sys.executable, "-I", "-m", __name__),
                stdin=given.fileno(),
                cwd="/",
                start_new_session=True,  # a terminal's Ctrl-C is for the service
            )
        atexit.register(self.end)
        return self._ours

    def end(self) -> None:
        """End the process, if there is one; safe to call again."""
        atexit.unregister(self.end)
        if self._ours is not None and self.process is not None:
            self._ours.close()
            self.process.wait()
        self._ours = self.process = None


EXAMINERS: Final = Examiners()


def main() -> int:
    """Fork an examiner for each socket that comes by standard input, till it closes."""
    control = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    gc.freeze()
    while True:
        _, given, *_ = socket.recv_fds(control, 1, 1)
        with suppress(ChildProcessError):  # none is left
            while os.waitpid(-1, os.WNOHANG if given else 0) != (0, 0):
                continue
        if not given:
            return 0
        if os.fork() == 0:
            control.close()
            with suppress(OSError):  # who asked has gone
                _examine_for(socket.socket(fileno=given[0]))
            os._exit(0)
        os.close(given[0])


def _examine_for(asker: socket.socket) -> None:
    """Examine within limits, and say a `Patch`, or why that failed."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # else it would seem to be too dear
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_S, PROCESSOR_S + 5))
    signal.setitimer(signal.ITIMER_REAL, WAIT_S)
    asker.sendall(_BEGUN)
    found: Patch | str
    try:
        with asker.makefile("rb") as file:
            asked = msgspec.json.decode(file.read(), type=_Asked)
        if sys.platform == "linux":
            resource.setrlimit(resource.RLIMIT_DATA, (asked.memory_bytes,) * 2)
        where = Path(asked.repository)
        found = _examined(where, asked.base, asked.commit, asked.settings)
    except MemoryError:
        return
    except (GitFailed, Unavailable, pygit2.GitError, LookupError) as error:
        why = f"The work cannot be examined: {error}."
        found = Patch(files=(), refusals=(why,), keeps=False)
    except Exception as error:  # noqa: BLE001  whoever asked raises it
        found = f"{type(error).__name__}: {error}"
    asker.sendall(msgspec.json.encode(found))


def _examined(repository: Path, base: str, commit: str, settings: Settings) -> Patch:
    files: tuple[str, ...] = ()
    try:
        stretch = CommitRange(repository)
        whole = stretch.whole(base, commit)
        files = tuple(sorted(gate.printable(each.path) for each in whole))
        if not whole:
            return Patch(files=(), refusals=("The work changes nothing.",))
        steps = stretch.steps(base, commit)
        sizes, all_bytes = _sizes(repository, (*whole, *steps))
    except TooMuch as error:
        return Patch(files=files, refusals=(str(error),), keeps=False, is_large=True)
    lasting = {(each.path, each.mode_after) for each in whole}
    between = {e for e in steps if (e.path, e.mode_after) not in lasting}
    refusals = (
        *gate.refusals(whole, 0, settings.gate, settings.limits),
        *gate.passing(sorted(between), settings.gate),
        *stretch.twins(commit, whole),
    )
    patch = git.run([*_PATCH, base, commit], cwd=repository).stdout
    is_large = len(whole) > settings.limits.patch_files
    if not refusals:
        limits, largest = settings.limits, _largest(sizes)
        refusals = gate.refusals(whole, len(patch), settings.gate, limits, largest)
        is_large = bool(refusals)
    if refusals and max(len(patch), all_bytes) > READ_BYTES:
        return Patch(files=files, refusals=refusals, keeps=False, is_large=is_large)
    told = gate.leaks("The patch", patch, settings.gate)
    if not told and len(stretch.commits) > 1:  # a single one is the whole patch
        args = [*_PATCH, "--stdin", "-m"]
        asked = "".join(f"{step}\n" for step in stretch.commits).encode()
        patches = git.run(args, cwd=repository, stdin=asked).stdout
        told = gate.leaks("An intermediate commit", patches, settings.gate)
    paths = {each.path for each in steps}
    keeps = not told and not any(
        gate.is_matched(path, _WORKFLOWS, any_case=True) for path in paths
    )
    refusals = (*refusals, *told)
    return Patch(files=files, refusals=refusals, keeps=keeps, is_large=is_large)


def _largest(sizes: Mapping[str, int]) -> str:
    """Return the largest file in words; empty: there is none."""
    path = max(sizes, key=lambda one: sizes[one], default="")
    return gate.file_and_size(path, sizes[path]) if path else ""


def _sizes(
    repository: Path, changes: Iterable[gate.PathChange]
) -> tuple[dict[str, int], int]:
    """Return the largest that each path becomes, in bytes, and all bytes together."""
    paths = {each.blob_after: each.path for each in changes}
    objects = pygit2.Repository(str(repository)).odb
    found: dict[str, int] = {}
    all_bytes = 0
    for blob, path in paths.items():
        with suppress(KeyError):  # a submodule's commit, or there is no file any more
            _, size = objects.read_header(pygit2.Oid(hex=blob))
            found[path] = max(found.get(path, 0), size)
            all_bytes += size
    if max(found.values(), default=0) > gate.FILE_BYTES:
        has = f"The work contains {_largest(found)}"
        raise TooMuch(f"{has}; the limit is {gate.FILE_BYTES} bytes.")
    if all_bytes > FILES_BYTES:
        has = f"The work is {all_bytes} bytes, with {_largest(found)} as the largest"
        raise TooMuch(f"{has} file; the limit is {FILES_BYTES} bytes.")
    return found, all_bytes


_PATCH: Final = ("diff-tree", "-r", "--no-renames", "--patch", "--text", "--root")


@lru_cache(maxsize=256)
def ci_changes(repository: Path, target: str, commit: str) -> tuple[str, ...]:
    """Return the CI files of `commit` that are not as on the target, in printable form.

    What only the target has changed since does not count: the commit is older there.
    """
    repo = pygit2.Repository(str(repository))
    since = repo.merge_base(target, commit) or target
    made = repo[commit].peel(pygit2.Tree)
    own, beside = (
        {each.new_file.path for each in tree.diff_to_tree(made).deltas}
        for tree in (repo[each].peel(pygit2.Tree) for each in (since, target))
    )
    return tuple(map(gate.printable, gate.ci_files(own & beside)))


def has_twin(tree: pygit2.Tree, path: str, *, is_other: bool = False) -> bool:
    """Whether a tree holds a file, or a folder for it, that differs only so from one.

    `is_other`: a folder above already does.
    """
    name, _, rest = path.partition("/")
    for entry in tree:
        here = (entry.raw_name or b"").decode(errors="surrogateescape")
        if _folded(here) != _folded(name):
            continue
        other = is_other or here != name
        if rest and isinstance(entry, pygit2.Tree):
            if has_twin(entry, rest, is_other=other):
                return True
        elif other:
            return True
    return False


def _folded(name: str) -> str:
    return normalize("NFC", name).casefold()


if __name__ == "__main__":
    sys.exit(main())
