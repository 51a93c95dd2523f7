"""What a commit holds and changed: files, templates, and what the planner asks for.

None of a repository's code is run: only the tree, the CODEOWNERS file, the history and
some of the files are read. All of it blocks.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import chain, takewhile
from pathlib import Path
from posixpath import splitext
from typing import Final

import pygit2

from bot.repository.compose import blob_in, message_of
from bot.repository.strangers_commits import Patch, examined_patch
from convoy.model.records import Scope, Settings, TaskSpec
from convoy.patterns import MOST_BYTES, PATTERNS_FOLDER, Template, named_pattern
from convoy.planner import Survey
from convoy.planner.ground import (
    Ground,
    absent_paths,
    changed_together,
    is_read,
    scopes,
)
from convoy.planner.issue_text import box_labels, form_files
from convoy.text.project_tests import propose_all
from grite import git

RECENT_COMMITS: Final = 500
_MARK: Final = "\x01"


def changed_lately(path: Path, commit: str) -> tuple[tuple[str, ...], ...]:
    """Return the files that each of the last commits changed, the newest first.

    Merges are left out: other commits made their changes. A shallow repository's oldest
    commit seems to have changed every file.
    """
    # git leaves out folders that did not change; libgit2 looks into each of them, and
    # took 57 ms a commit for 50,000 files where git takes 0.2 ms.
    asked = ["log", f"-n{RECENT_COMMITS}", "--no-merges", "--no-renames", "--name-only"]
    said = git.run([*asked, "-z", "--format=%x01", commit], cwd=path).stdout
    commits = (each.split("\0") for each in said.decode(errors="replace").split(_MARK))
    next(commits)  # what is before the first mark
    return tuple(
        tuple(file.removeprefix("\n") for file in files if file.strip("\n"))
        for files in commits
    )


DEPTH: Final = 3
LANGUAGES: Final = 12
BUSY: Final = 15
LINKS: Final = 25
"""The most ties between folders listed, and the most imported files."""
SOURCES_READ: Final = 2_000
"""The most files whose imports are read: recently changed ones, and a sample."""
OWNERS_CHARS: Final = 2_000
_OWNERS: Final = ("CODEOWNERS", ".github/CODEOWNERS", "docs/CODEOWNERS")
_BLOB_BYTES: Final = 1_000_000
_SOURCE_BYTES: Final = 200_000
"""A larger file is taken as generated, and not read as a source."""


def _files(tree: pygit2.Tree, above: str = "") -> Iterator[str]:
    """Give every file's path, in git's order."""
    for item in tree:
        name = f"{above}{item.name}"
        if isinstance(item, pygit2.Tree):
            yield from _files(item, f"{name}/")
        elif isinstance(item, pygit2.Blob):
            yield name


def _links(
    tree: pygit2.Tree, files: Collection[str], busy: Sequence[str]
) -> dict[str, frozenset[str]]:
    """Return the imports of a sample of the files; all files if there are few."""
    sources = [name for name in files if is_read(name)]
    step = -(-len(sources) // SOURCES_READ) or 1
    chosen = dict.fromkeys((*filter(is_read, busy), *sources[::step]))
    read = partial(_source, tree)
    ground = Ground(files=tuple(files), text=read)
    found = {
        name: ground.imported(name, read(name)) for name in [*chosen][:SOURCES_READ]
    }
    return {name: names for name, names in found.items() if names}


def _source(tree: pygit2.Tree, name: str) -> str:
    return _text_in(tree, name, _SOURCE_BYTES) or ""


def _folder(name: str) -> str:
    return f"{name.rpartition('/')[0]}/".removeprefix("/") or "./"


def _folders(name: str) -> Iterator[str]:
    parts = name.split("/")[:-1]
    for depth in range(1, min(len(parts), DEPTH) + 1):
        yield "/".join(parts[:depth]) + "/"


def _text_in(tree: pygit2.Tree, name: str, longest: int = _BLOB_BYTES) -> str | None:
    blob = blob_in(tree, name, longest)
    return None if blob is None else blob.data.decode(errors="replace")


LANDED_MOST: Final = 20
ABSENT_MOST: Final = 10


class Commits:
    """The commits of a repository; `ensure` brings those that are not there yet."""

    def __init__(
        self, path: Path, ensure: Callable[[list[str]], None] = lambda _: None
    ) -> None:
        self._path = path
        self._ensure = ensure

    def _tree(self, commit: str) -> pygit2.Tree:
        return pygit2.Repository(str(self._path))[commit].peel(pygit2.Tree)

    def files(self, commit: str) -> tuple[str, ...]:
        return tuple(_files(self._tree(commit)))

    def text(self, commit: str) -> Callable[[str], str]:
        """Return a reader of files' texts; files that are too large read as empty."""
        return partial(_source, self._tree(commit))

    def diff(
        self, base: str, commit: str, room: int, paths: tuple[str, ...] = ()
    ) -> str:
        """Return the difference between two commits as a patch, cut to `room` + 1.

        A patch longer than `room` characters was cut. `paths` are the only files shown;
        empty: all.
        """
        self._ensure([base, commit])
        options = ("--no-color", "--no-ext-diff", "--no-textconv", "--stat", "--patch")
        found = git.run(
            ["--literal-pathspecs", "diff", *options, base, commit, "--", *paths],
            cwd=self._path,
        )
        return found.stdout[: 4 * room].decode(errors="replace")[: room + 1]

    def examined(self, base: str, commit: str, settings: Settings) -> Patch:
        """Return what `base..commit` changes and what the gate says of it."""
        self._ensure([base, commit])
        return examined_patch(self._path, base, commit, settings)

    def landed(self, base: str, tip: str, paths: tuple[str, ...]) -> tuple[str, ...]:
        """Return the newest commits of `base..tip` that touch one of the paths."""
        self._ensure([base, tip])
        line = ["--literal-pathspecs", "rev-list", f"--max-count={LANDED_MOST}"]
        line += ["--no-merges", tip, f"^{base}", "--", *paths]
        found = git.run(line, cwd=self._path)
        return tuple(found.stdout.decode().split())

    def subject(self, commit: str) -> str:
        """Return the first paragraph of a commit's message, as one line."""
        known = pygit2.Repository(str(self._path))[commit].peel(pygit2.Commit)
        lines = (line.strip() for line in message_of(known).strip().split("\n"))
        return " ".join(takewhile(bool, lines))

    def lines(self, base: str, commit: str) -> int:
        self._ensure([base, commit])
        options = ("--no-ext-diff", "--no-textconv", "--numstat")
        found = git.run(["diff", *options, base, commit, "--"], cwd=self._path)
        rows = (row.split(b"\t")[:2] for row in found.stdout.splitlines())
        return sum(int(count) for row in rows for count in row if count.isdigit())

    def surveyed(self, commit: str) -> Survey:
        self._ensure([commit])
        tree = self._tree(commit)
        files = dict.fromkeys(_files(tree))
        found = propose_all(files, lambda name: _text_in(tree, name))
        endings = Counter(filter(None, (splitext(name)[1] for name in files)))
        places = Counter(name[: name.rfind("/") + 1] for name in files)
        folders = Counter[str]()
        for place, count in places.items():
            folders.update(dict.fromkeys(_folders(place), count))
        past = changed_lately(self._path, commit)
        busy = [
            name for name, _ in Counter(chain(*past)).most_common() if name in files
        ]
        links = _links(tree, files, busy)
        ties = Counter(
            (one, other)
            for name, imported in links.items()
            for one, other in {(_folder(name), _folder(each)) for each in imported}
            if one != other
        )
        return Survey(
            files=len(files),
            folders=tuple(sorted(folders.items())),
            languages=tuple(endings.most_common(LANGUAGES)),
            tests=tuple(proposal.command for proposal in found),
            owners=next(filter(None, (_text_in(tree, name) for name in _OWNERS)), "")[
                :OWNERS_CHARS
            ],
            busy=tuple(busy[:BUSY]),
            together=changed_together(past, files)[:LINKS],
            used=tuple(Counter(chain.from_iterable(links.values())).most_common(LINKS)),
            uses=tuple((*pair, count) for pair, count in ties.most_common(LINKS)),
        )

    def template(self, commit: str, name: str) -> Template:
        """Return a pattern by its name, as a person typed it; a repository's first."""
        self._ensure([commit])
        files = self.template_files(commit)
        return named_pattern(name, files, partial(self.template_text, commit))

    def template_files(self, commit: str) -> tuple[str, ...]:
        """Return the files in the folder of templates, without its subfolders."""
        line = ("ls-tree", "-z", "--name-only", commit, "--", PATTERNS_FOLDER)
        found = git.run(line, cwd=self._path).stdout.decode(errors="replace")
        return tuple(filter(None, found.split("\0")))

    def template_text(self, commit: str, file: str) -> str:
        """Return a template's text, cut to one byte more than a template may have."""
        found = git.run(["cat-file", "blob", f"{commit}:{file}"], cwd=self._path)
        return found.stdout[: MOST_BYTES + 1].decode(errors="replace")

    def box_labels(self, commit: str) -> frozenset[str]:
        self._ensure([commit])
        read = self.text(commit)
        return box_labels(map(read, form_files(self.files(commit))))

    def scopes(self, commit: str, tasks: tuple[TaskSpec, ...]) -> tuple[Scope, ...]:
        """Return which paths of a plan's tasks a commit does not have."""
        if not any(task.paths for task in tasks):
            return ()
        return scopes(tasks, Ground(files=self.files(commit)))

    def absent(self, commit: str, found: tuple[Scope, ...]) -> tuple[str, ...]:
        """Return remarks about declared paths that do not exist at a commit."""
        if not found:
            return ()
        return tuple(absent_paths(found, Ground(files=self.files(commit))))[
            :ABSENT_MOST
        ]
