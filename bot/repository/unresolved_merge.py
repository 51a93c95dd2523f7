"""A merge of two commits as git leaves it, with its conflict markers in the files.

An agent resolves it; the labels of the markers are the two commits, so that whatever is
left over of them is found again.
https://git-scm.com/docs/git-merge-tree
"""

from pathlib import Path
from typing import Final

import pygit2
from msgspec import Struct

from grite import git

_MERGE: Final = ("-c", "merge.conflictStyle=merge", "merge-tree", "--write-tree")
_FORM: Final = ("-z", "--name-only", "--no-messages", "--allow-unrelated-histories")
_CONFLICTS: Final = 1


class Unresolved(Struct, frozen=True):
    """What git makes of a merge that it may not be able to finish."""

    tree: str
    paths: tuple[str, ...]
    """The files that conflict; some, such as deleted ones, have no markers."""


def merged(repository: Path, ours: str, theirs: str) -> Unresolved:
    """Merge two commits of a bare repository; deterministic, moves no ref.

    Raises:
        GitFailed: git cannot merge them at all.
        Unavailable: it takes too long.
    """
    line = (*_MERGE, *_FORM, ours, theirs)
    done = git.run(line, cwd=repository, check=False)
    if done.status not in (0, _CONFLICTS):
        git.run(line, cwd=repository)
    tree, *paths = done.stdout.decode(errors="replace").split("\0")
    return Unresolved(tree, tuple(sorted({path for path in paths if path})))


def left_over(repository: Path, merge: str, work: str) -> tuple[str, ...]:
    """Return the files of `work` in which markers of the merge are left.

    Args:
        repository: bare.
        merge: the commit with the markers; its parents are the merged commits.
        work: what was made of it.

    Raises:
        GitFailed: it cannot be read.
        Unavailable: it takes too long.
    """
    repo = pygit2.Repository(str(repository))
    ours, theirs = (str(p) for p in repo[merge].peel(pygit2.Commit).parent_ids)
    marks = (f"<<<<<<< {ours}".encode(), f">>>>>>> {theirs}".encode())
    tree = repo[work].peel(pygit2.Commit).tree
    return tuple(
        path
        for path in merged(repository, ours, theirs).paths
        if any(line.startswith(marks) for line in _lines(tree, path))
    )


def _lines(tree: pygit2.Tree, path: str) -> list[bytes]:
    try:
        found = tree[path]
    except KeyError:
        return []
    return found.data.splitlines() if isinstance(found, pygit2.Blob) else []
