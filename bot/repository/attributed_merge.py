"""Merges as git itself makes them, by the attributes of the branch merged into.

git reads `.gitattributes` from a work tree, which a bare clone does not have. A folder
that holds these files alone stands in for it.
https://git-scm.com/docs/gitattributes#_performing_a_three_way_merge
"""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final

import pygit2
from msgspec import Struct
from msgspec.structs import replace

from bot.repository import structural_merge
from bot.repository.structural_merge import STRUCTURAL
from grite import git
from grite.errors import GitFailed, Unavailable

_NAME: Final = ".gitattributes"
_WORDS: Final = (b"merge", b"binary")
"""No attribute changes how files are merged unless its file has one of these words."""
_OURS: Final = ("-c", "merge.ours.driver=true")
"""The driver that git's own manual tells people to define by this name.
https://git-scm.com/book/en/v2/Customizing-Git-Git-Attributes#_merge_strategies
"""
_MERGE: Final = ("-c", "merge.conflictStyle=merge", "merge-tree", "--write-tree")
_FORM: Final = ("-z", "--name-only", "--no-messages", "--allow-unrelated-histories")
_CONFLICTS: Final = 1
_MANY: Final = 100_000
"""Bytes; a longer file of attributes is left alone."""


class Merged(Struct, frozen=True):
    """What git makes of a merge that it may not be able to finish."""

    tree: str
    paths: tuple[str, ...]
    """The files that conflict; some, such as deleted ones, have no markers."""
    helped: str = ""
    """Which program merged which files that git had left in conflict."""


def merged(
    repository: Path, ours: str, theirs: str, mergers: Iterable[str] = ()
) -> Merged:
    """Merge two commits of a bare repository; deterministic, moves no ref.

    Args:
        repository: bare.
        ours: the commit merged into.
        theirs: the commit that is merged.
        mergers: what may merge files that git leaves in conflict; see `STRUCTURAL`.

    Raises:
        GitFailed: git cannot merge them at all.
        Unavailable: it takes too long.
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
        more = structural_merge.options(name, self.path, before.paths)
        try:
            made = self.merged((*more, *line), structural_merge.DEADLINE_S)
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
    files = (_blob(ours, str(folder / _NAME)) for folder in folders)
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
        if path.name != _NAME or ".." in path.parts or path.is_absolute():
            continue
        if (blob := _blob(tree, str(path))) is not None:
            yield str(path), blob.data


def _blob(tree: pygit2.Tree, path: str) -> pygit2.Blob | None:
    try:
        found = tree[path]
    except (KeyError, UnicodeError):
        return None
    if not isinstance(found, pygit2.Blob) or found.size > _MANY:
        return None
    return found
