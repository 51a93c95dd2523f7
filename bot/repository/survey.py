"""What a repository looks like at a commit, for whoever plans work on it.

Nothing of it is run: its tree, its CODEOWNERS file and its history are read.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Final

import pygit2

from convoy.planner.brief import Survey
from convoy.planner.detect import propose_ci

DEPTH: Final = 3
"""Folders are listed so many levels down."""
LANGUAGES: Final = 12
BUSY: Final = 15
COMMITS: Final = 200
"""So far back goes "lately"."""
OWNERS_CHARS: Final = 2_000
_OWNERS: Final = ("CODEOWNERS", ".github/CODEOWNERS", "docs/CODEOWNERS")
_BLOB_BYTES: Final = 1_000_000


def files_at(path: Path, commit: str) -> tuple[str, ...]:
    """Return every path of a commit, in git's order.

    Args:
        path: a repository, bare or not.
        commit: one of its commits.
    """
    repo = pygit2.Repository(str(path))
    return tuple(_walk(repo[commit].peel(pygit2.Tree), ""))


def surveyed(path: Path, commit: str) -> Survey:
    """Return what is known of a repository at a commit; blocking.

    Args:
        path: the repository, bare or not.
        commit: one of its commits, with its history or without.
    """
    repo = pygit2.Repository(str(path))
    tree = repo[commit].peel(pygit2.Tree)
    files = tuple(_walk(tree, ""))
    found = propose_ci(files, lambda name: _text(tree, name))
    endings = Counter(filter(None, (PurePosixPath(name).suffix for name in files)))
    folders = Counter(folder for name in files for folder in _folders(name))
    return Survey(
        files=len(files),
        folders=tuple(sorted(folders.items())),
        languages=tuple(endings.most_common(LANGUAGES)),
        test=found.command if found else "",
        owners=next(filter(None, (_text(tree, name) for name in _OWNERS)), "")[
            :OWNERS_CHARS
        ],
        busy=_busy(repo, commit, frozenset(files)),
    )


def _walk(tree: pygit2.Tree, above: str) -> Iterator[str]:
    for item in tree:
        name = f"{above}{item.name}"
        if isinstance(item, pygit2.Tree):
            yield from _walk(item, f"{name}/")
        elif isinstance(item, pygit2.Blob):
            yield name


def _folders(name: str) -> Iterator[str]:
    parts = name.split("/")[:-1]
    for depth in range(1, min(len(parts), DEPTH) + 1):
        yield "/".join(parts[:depth]) + "/"


def _text(tree: pygit2.Tree, name: str) -> str | None:
    try:
        found = tree[name]
    except KeyError:
        return None
    if not isinstance(found, pygit2.Blob) or found.size > _BLOB_BYTES:
        return None
    return found.data.decode(errors="replace")


def _busy(
    repo: pygit2.Repository, commit: str, files: frozenset[str]
) -> tuple[str, ...]:
    """Return the files that most of the last commits changed, and are still there."""
    changed: Counter[str] = Counter()
    try:
        for one in islice(repo.walk(commit, pygit2.enums.SortMode.TIME), COMMITS):
            if len(one.parents) == 1:
                diff = repo.diff(one.parents[0], one)
                changed.update(delta.new_file.path for delta in diff.deltas)
    except (KeyError, pygit2.GitError):
        pass  # a shallow repository ends somewhere
    return tuple(name for name, _ in changed.most_common() if name in files)[:BUSY]
