"""Describes a repository at a commit, for the planner.

None of its code is run: only the tree, the CODEOWNERS file, the history and some of
the files are read.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from posixpath import splitext
from typing import Final

import pygit2

from bot.repository.recent_changes import lately
from convoy.planner import Survey
from convoy.planner.ground import changed_together, go_module, is_read, linked
from convoy.text.project_tests import propose_all

DEPTH: Final = 3
"""How many levels of folders are listed."""
LANGUAGES: Final = 12
BUSY: Final = 15
LINKS: Final = 25
"""The most ties between folders listed, and the most imported files."""
READ: Final = 2_000
"""The most files whose imports are read: recently changed ones, and a sample."""
OWNERS_CHARS: Final = 2_000
_OWNERS: Final = ("CODEOWNERS", ".github/CODEOWNERS", "docs/CODEOWNERS")
_BLOB_BYTES: Final = 1_000_000
_SOURCE_BYTES: Final = 200_000
"""A larger file is taken as generated, and not read as a source."""


def files_at(path: Path, commit: str) -> tuple[str, ...]:
    """Return every path of a commit, in git's order.

    Args:
        path: a repository, bare or not.
        commit: one of its commits.
    """
    repo = pygit2.Repository(str(path))
    return tuple(_blobs(repo[commit].peel(pygit2.Tree)))


def text_at(path: Path, commit: str) -> Callable[[str], str]:
    """Return a reader of files' texts at a commit; too large files read as empty.

    Args:
        path: a repository, bare or not.
        commit: one of its commits.
    """
    tree = pygit2.Repository(str(path))[commit].peel(pygit2.Tree)
    return lambda name: _text(tree, name, _SOURCE_BYTES) or ""


def surveyed(path: Path, commit: str) -> Survey:
    """Return a survey of a repository at a commit; blocking.

    Args:
        path: the repository, bare or not.
        commit: one of its commits, with its history or without.
    """
    repo = pygit2.Repository(str(path))
    tree = repo[commit].peel(pygit2.Tree)
    files = _blobs(tree)
    found = propose_all(files, lambda name: _text(tree, name))
    endings = Counter(filter(None, (splitext(name)[1] for name in files)))
    places = Counter(name[: name.rfind("/") + 1] for name in files)
    folders = Counter[str]()
    for place, count in places.items():
        folders.update(dict.fromkeys(_folders(place), count))
    past = lately(path, commit)
    busy = [name for name, _ in Counter(chain(*past)).most_common() if name in files]
    links = _links(repo, files, busy)
    return Survey(
        files=len(files),
        folders=tuple(sorted(folders.items())),
        languages=tuple(endings.most_common(LANGUAGES)),
        tests=tuple(proposal.command for proposal in found),
        owners=next(filter(None, (_text(tree, name) for name in _OWNERS)), "")[
            :OWNERS_CHARS
        ],
        busy=tuple(busy[:BUSY]),
        together=changed_together(past, files)[:LINKS],
        used=_most_used(links),
        uses=_between_folders(links),
    )


def _blobs(tree: pygit2.Tree) -> dict[str, pygit2.Oid]:
    """Return every file's path, in git's order, with the id of its content."""
    return dict(_walk(tree, ""))


def _walk(tree: pygit2.Tree, above: str) -> Iterator[tuple[str, pygit2.Oid]]:
    for item in tree:
        name = f"{above}{item.name}"
        if isinstance(item, pygit2.Tree):
            yield from _walk(item, f"{name}/")
        elif isinstance(item, pygit2.Blob):
            yield name, item.id


def _links(
    repo: pygit2.Repository, files: dict[str, pygit2.Oid], busy: Sequence[str]
) -> dict[str, frozenset[str]]:
    """Return the imports of a sample of the files; all files if there are few."""
    sources = [name for name in files if is_read(name)]
    step = -(-len(sources) // READ) or 1
    chosen = dict.fromkeys((*filter(is_read, busy), *sources[::step]))
    texts = ((name, _source(repo, files[name])) for name in [*chosen][:READ])
    module = _source(repo, files["go.mod"]) if "go.mod" in files else ""
    return linked(texts, files, go_module(module))


def _source(repo: pygit2.Repository, oid: pygit2.Oid) -> str:
    blob = repo[oid]
    if not isinstance(blob, pygit2.Blob) or blob.size > _SOURCE_BYTES:
        return ""
    return blob.data.decode(errors="replace")


def _most_used(links: dict[str, frozenset[str]]) -> tuple[tuple[str, int], ...]:
    counted = Counter(chain.from_iterable(links.values()))
    return tuple(counted.most_common(LINKS))


def _between_folders(
    links: dict[str, frozenset[str]],
) -> tuple[tuple[str, str, int], ...]:
    """Return which folders import from which, the strongest ties first."""
    counted = Counter(
        (one, other)
        for name, found in links.items()
        for one, other in {(_folder(name), _folder(each)) for each in found}
        if one != other
    )
    return tuple((*pair, count) for pair, count in counted.most_common(LINKS))


def _folder(name: str) -> str:
    return f"{name.rpartition('/')[0]}/".removeprefix("/") or "./"


def _folders(name: str) -> Iterator[str]:
    parts = name.split("/")[:-1]
    for depth in range(1, min(len(parts), DEPTH) + 1):
        yield "/".join(parts[:depth]) + "/"


def _text(tree: pygit2.Tree, name: str, longest: int = _BLOB_BYTES) -> str | None:
    try:
        found = tree[name]
    except KeyError:
        return None
    if not isinstance(found, pygit2.Blob) or found.size > longest:
        return None
    return found.data.decode(errors="replace")
