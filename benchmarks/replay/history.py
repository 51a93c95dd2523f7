"""A part of a project's history: the changes that are to be made again."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal, get_args

from msgspec import Struct

from benchmarks.replay.patch_agent import changed
from grite import git

Mode = Literal["all", "half", "none"]
"""How many of its files each task names before it begins."""
MODES: Final[tuple[Mode, ...]] = get_args(Mode)


class Change(Struct, frozen=True, kw_only=True):
    """A step of the main line."""

    base: str
    commit: str
    files: tuple[str, ...]


class History(Struct, frozen=True, kw_only=True):
    """What is done again."""

    name: str
    repository: Path
    """A git repository that has it, which is only read."""
    ci: str
    """The project's tests, as a line of sh that runs in a checkout."""
    changes: tuple[Change, ...]

    @property
    def start(self) -> str:
        """The commit it begins at."""
        return self.changes[0].base

    @property
    def end(self) -> str:
        """The commit that it led to."""
        return self.changes[-1].commit


def read(name: str, repository: Path, ci: str, end: str, most: int) -> History:
    """Read the last changes that led to a commit, each with its parent on the line.

    Args:
        name: what to call it.
        repository: where it lies.
        ci: the project's tests.
        end: the last change.
        most: how many changes.
    """
    asked = ["rev-list", "--first-parent", f"--max-count={most + 1}", end]
    said = git.run(asked, cwd=repository).stdout.decode().split()
    line = [*reversed(said)]
    changes = (
        Change(base=base, commit=commit, files=(*changed(repository, base, commit),))
        for base, commit in pairwise(line)
    )
    kept = tuple(each for each in changes if each.files)
    return History(name=name, repository=repository, ci=ci, changes=kept)


def declared(change: Change, mode: Mode) -> Sequence[str]:
    """Return the files that a task names: all, every second one, or none."""
    if mode == "none":
        return ()
    plain = [each for each in change.files if each.isprintable() and " " not in each]
    return plain if mode == "all" else plain[::2]


def tree(repository: Path, commit: str) -> str:
    """Return the id of a commit's tree."""
    said = git.run(["rev-parse", f"{commit}^{{tree}}"], cwd=repository)
    return said.stdout.decode().strip()
