"""Merges as git makes them, with help where it leaves conflicts, and what they lost.

git reads `.gitattributes` from a work tree, which a bare clone does not have. A folder
that holds these files alone stands in for it. Programs that merge code by its structure
are a row each. git starts one as it starts any merge driver, in a folder of its own,
until a deadline; what it cannot merge either stays in conflict. An agent resolves that:
the labels of git's markers are the two commits, so that whatever is left over of them
is found again. A line that a side added is kept if it stands in the result, or if every
word that it brought does: people join two changes of one line into a new one.
https://git-scm.com/docs/gitattributes#_performing_a_three_way_merge
https://git-scm.com/docs/gitattributes#_defining_a_custom_merge_driver
https://git-scm.com/docs/git-merge-tree
"""

import math
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final

import pygit2
from msgspec import Struct
from msgspec.structs import replace

from grite import git
from grite.errors import GitFailed, Unavailable

STRUCTURAL_S: Final = 30.0
"""For all files of one merge; what takes longer is left in conflict."""
STRUCTURAL_FILE: Final = "structural"
"""The file in a merge's folder that names what the program is to merge."""
_SAFE: Final = re.compile(r"[\w./+@,=: -]+", re.ASCII)
"""Paths that are patterns for themselves alone, between quotes."""


class Structural(Struct, frozen=True):
    """A program that merges by structure."""

    program: str
    driver: str
    """Its command line as a merge driver of git's."""
    install: str
    """How to get it."""


STRUCTURAL: Final = {
    "mergiraf": Structural(
        program="mergiraf",
        # 0.20.0 may end with 0 and leave markers, after a last line without its end.
        driver="mergiraf merge --git %O %A %B -p %P -l %L && ! grep -q '<<<<<<< ' %A",
        install="cargo install --locked mergiraf",
    )
}


_ATTRIBUTES_FILE: Final = ".gitattributes"
_WORDS: Final = (b"merge", b"binary")
"""No attribute changes how files are merged unless its file has one of these words."""
_OURS: Final = ("-c", "merge.ours.driver=true")
"""The driver that git's own manual tells people to define by this name.
https://git-scm.com/book/en/v2/Customizing-Git-Git-Attributes#_merge_strategies
"""
_MERGE: Final = ("-c", "merge.conflictStyle=merge", "merge-tree", "--write-tree")
_FORM: Final = ("-z", "--name-only", "--no-messages", "--allow-unrelated-histories")
_CONFLICTS: Final = 1
_ATTRIBUTES_BYTES: Final = 100_000
"""Bytes; a longer file of attributes is left alone."""


class Merged(Struct, frozen=True):
    """What git makes of a merge that it may not be able to finish."""

    tree: str
    paths: tuple[str, ...]
    """The files that conflict; some, such as deleted ones, have no markers."""
    helped: str = ""
    """Which program merged which files that git had left in conflict."""


def merged_by_git(
    repository: Path, ours: str, theirs: str, mergers: Iterable[str] = ()
) -> Merged:
    """Merge `theirs` into `ours` in a bare repository; deterministic, moves no ref.

    The `mergers`, keys of `STRUCTURAL`, may merge files that git leaves in conflict.
    """
    line = (*_OURS, *_MERGE, *_FORM, ours, theirs)
    with tempfile.TemporaryDirectory(prefix="brat-merge-") as folder:
        for file, text in _attributes(repository, ours):
            path = Path(folder, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
        work = _Folder(repository.resolve(), Path(folder))
        made = work.merged(line)
        for name in mergers:
            if made.paths and name in STRUCTURAL:
                made = work.helped(name, line, made)
    return made


class _Folder(Struct, frozen=True):
    """Where one merge runs."""

    repository: Path
    path: Path

    def merged(self, line: Sequence[str], deadline_s: float = git.DEADLINE_S) -> Merged:
        """Run git's merge."""
        env = {"GIT_DIR": str(self.repository), "GIT_WORK_TREE": str(self.path)}
        run = partial(git.run, line, cwd=self.path, env=env, deadline_s=deadline_s)
        done = run(check=False)
        if done.status not in (0, _CONFLICTS):
            run()
        tree, *paths = done.stdout.decode(errors="surrogateescape").split("\0")
        # A path that is not UTF-8 has lone surrogates, which no event can carry.
        shown = {path.encode(errors="replace").decode() for path in paths if path}
        return Merged(tree, tuple(sorted(shown)))

    def helped(self, name: str, line: Sequence[str], before: Merged) -> Merged:
        """Let a program merge what conflicts; what it cannot stays as git left it."""
        safe = (path for path in before.paths if _SAFE.fullmatch(path))
        file = self.path / STRUCTURAL_FILE
        file.write_text("".join(f'"/{path}" merge={name}\n' for path in safe))
        driver = f"merge.{name}.driver={STRUCTURAL[name].driver}"
        more = ("-c", f"core.attributesFile={file}", "-c", driver)
        try:
            made = self.merged((*more, *line), STRUCTURAL_S)
        except (GitFailed, Unavailable):
            return before  # it is an agent's then, as without the program
        done = [path for path in before.paths if path not in made.paths]
        if not done:
            return before
        helped = f"{before.helped} {name}: {', '.join(done)}".strip()
        return replace(made, helped=helped)


def is_attributed(base: pygit2.Tree, ours: pygit2.Tree, theirs: pygit2.Tree) -> bool:
    """Whether attributes may say how a file is merged that both sides changed."""
    folders = {
        folder
        for path in _changed_by_both(base, ours, theirs)
        for folder in PurePosixPath(path).parents
    }
    paths = (str(folder / _ATTRIBUTES_FILE) for folder in folders)
    files = (blob_in(ours, path, _ATTRIBUTES_BYTES) for path in paths)
    return any(word in file.data for file in files if file for word in _WORDS)


def _changed_by_both(
    base: Iterable[pygit2.Object],
    ours: pygit2.Tree,
    theirs: pygit2.Tree,
    folder: str = "",
) -> Iterator[str]:
    """Yield the paths that three trees hold in three versions."""
    was = {entry.name: entry for entry in base}
    other = {entry.name: entry for entry in theirs}
    for entry in ours:
        name, path = entry.name, f"{folder}{entry.name}"
        before, beside = was.get(name), other.get(name)
        if beside is None or beside == entry or before in (entry, beside):
            continue
        if isinstance(entry, pygit2.Tree) and isinstance(beside, pygit2.Tree):
            root = before if isinstance(before, pygit2.Tree) else ()
            yield from _changed_by_both(root, entry, beside, f"{path}/")
        else:
            yield path


def _attributes(repository: Path, commit: str) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the text of each file of attributes in a commit."""
    listed = git.run(("ls-tree", "-r", "-z", "--name-only", commit), cwd=repository)
    tree = pygit2.Repository(str(repository))[commit].peel(pygit2.Tree)
    for name in listed.stdout.split(b"\0"):
        path = PurePosixPath(name.decode(errors="surrogateescape"))
        if path.name != _ATTRIBUTES_FILE or ".." in path.parts or path.is_absolute():
            continue
        if (blob := blob_in(tree, str(path), _ATTRIBUTES_BYTES)) is not None:
            yield str(path), blob.data


def blob_in(tree: pygit2.Tree, path: str, most: float = math.inf) -> pygit2.Blob | None:
    """Return a file; None: it is not there, is no file, or has more bytes."""
    try:
        found = tree[path]
    except (KeyError, UnicodeError):
        return None
    return found if isinstance(found, pygit2.Blob) and found.size <= most else None


def files_with_markers(repository: Path, merge: str, work: str) -> tuple[str, ...]:
    """Return the files of `work` in which markers of the merge below it are left."""
    repo = pygit2.Repository(str(repository))
    ours, theirs = (str(p) for p in repo[merge].peel(pygit2.Commit).parent_ids)
    marks = (f"<<<<<<< {ours}".encode(), f">>>>>>> {theirs}".encode())
    tree = repo[work].peel(pygit2.Commit).tree
    return tuple(
        path
        for path in merged_by_git(repository, ours, theirs).paths
        if (blob := blob_in(tree, path)) is not None
        and any(line.startswith(marks) for line in blob.data.splitlines())
    )


_WORD: Final = re.compile(rb"\w+")
_TEXT_BYTES: Final = 2_000_000
"""Bytes; what is lost of a larger file is not looked for."""


class Dropped(Struct, frozen=True):
    """Lines of one file that a side added and the result lacks."""

    path: str
    lines: tuple[str, ...]


def dropped_lines(
    repo: pygit2.Repository, merge: str, work: str, paths: tuple[str, ...]
) -> Iterator[Dropped]:
    """Yield what `work` lost of the sides of the merge it was made of, file by file."""
    sides = [str(each) for each in repo[merge].peel(pygit2.Commit).parent_ids]
    base = repo.merge_base(*sides)
    for path in paths:
        made = _text_of(repo, work, path)
        before = _text_of(repo, str(base), path) if base else b""
        after = (_text_of(repo, side, path) for side in sides)
        lines = [line for side in after for line in _lost(before, side, made)]
        if lines:
            shown = (line.decode(errors="replace").strip() for line in lines)
            yield Dropped(path, tuple(dict.fromkeys(shown)))


def _lost(before: bytes, side: bytes, made: bytes) -> Iterator[bytes]:
    """Yield the lines that a side added and that neither stand nor live on."""
    known = {line.strip() for line in (*before.splitlines(), *made.splitlines())}
    old, kept = {*_WORD.findall(before)}, {*_WORD.findall(made)}
    for line in side.splitlines():
        brought = {*_WORD.findall(line)} - old
        if line.strip() not in known and brought - kept:
            yield line


def _text_of(repo: pygit2.Repository, commit: str, path: str) -> bytes:
    """Return a file's bytes; empty where it is not there, is too large or no text."""
    blob = blob_in(repo[commit].peel(pygit2.Tree), path, _TEXT_BYTES)
    return b"" if blob is None or blob.is_binary else blob.data
