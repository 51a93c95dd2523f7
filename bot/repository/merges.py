"""Merges as git makes them.

git reads `.gitattributes` from a work tree, which a bare clone does not have. A folder
that holds these files alone stands in for it. An agent resolves what conflicts: the
labels of git's markers are the two commits, so that whatever is left over of them is
found again.
https://git-scm.com/docs/gitattributes#_performing_a_three_way_merge
https://git-scm.com/docs/git-merge-tree
"""

import math
import tempfile
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final

import pygit2
from msgspec import Struct

from grite import git

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


def merged_by_git(repository: Path, ours: str, theirs: str) -> Merged:
    """Merge `theirs` into `ours` in a bare repository; deterministic, moves no ref."""
    with tempfile.TemporaryDirectory(prefix="brat-merge-") as folder:
        for file, text in _attributes(repository, ours):
            path = Path(folder, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
        line = (*_OURS, *_MERGE, *_FORM, ours, theirs)
        env = {"GIT_DIR": str(repository.resolve()), "GIT_WORK_TREE": folder}
        run = partial(git.run, line, cwd=Path(folder), env=env)
        done = run(check=False)
        if done.status not in (0, _CONFLICTS):
            run()
    tree, *paths = done.stdout.decode(errors="surrogateescape").split("\0")
    # A path that is not UTF-8 has lone surrogates, which no event can carry.
    shown = {path.encode(errors="replace").decode() for path in paths if path}
    return Merged(tree, tuple(sorted(shown)))


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
    made, kept = (repo[each].peel(pygit2.Commit) for each in (merge, work))
    sides = [repo[parent].peel(pygit2.Commit).tree for parent in made.parent_ids]
    marked = {
        delta.new_file.path
        for delta in sides[0].diff_to_tree(made.tree).deltas
        if _marks(kept.tree, delta.new_file.path)
        & _marks(made.tree, delta.new_file.path).difference(
            *(_marks(side, delta.new_file.path) for side in sides)
        )
    }
    return tuple(sorted(marked))


def _marks(tree: pygit2.Tree, path: str) -> set[bytes]:
    """Return the lines of a file that look like a conflict's first or last."""
    blob = blob_in(tree, path)
    lines = blob.data.splitlines() if blob else ()
    return {line for line in lines if line.startswith((b"<<<<<<< ", b">>>>>>> "))}
