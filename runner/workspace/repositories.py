"""Repositories that git is safe to use: the witness's own, and a look at the agent's.

A bare repository is written without git: no template, no hooks, a known configuration.
After the agent has run, git only works in the witness's own repository, whose
configuration is written anew first. So git obeys nothing that the agent left in a
`.git`. It is not GitPython, whose import takes 130 ms: as much as all of a runner.

The witness reads the agent's repository with its own rights. One that refers to other
objects, by alternates, by a link or from a server on this disk, could so hand over
files that the agent cannot read.
https://git-scm.com/docs/gitrepository-layout
"""

import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from convoy.text import AUTHOR
from runner.box.surroundings import left_in

_NAME, _EMAIL = AUTHOR

EVERY_OWNER = "every-owner.config"
"""A file in the witness's repository: it makes git read a repository that another user
owns. Git asks for this in the user's own configuration, nowhere else.
https://git-scm.com/docs/git-config#Documentation/git-config.txt-safedirectory
"""
_CONFIG = f"""\
[core]
\trepositoryFormatVersion = 0
\tbare = false
\tlogAllRefUpdates = false
\tsafecrlf = false
[user]
\tname = {_NAME}
\temail = {_EMAIL}
[gc]
\tauto = 0
[maintenance]
\tauto = false
[advice]
\taddEmbeddedRepo = false
"""
_WITNESS_CONFIG = f"""\
{_CONFIG}\
[core]
\tattributesFile = /dev/null
\texcludesFile = /dev/null
[fetch]
\tunpackLimit = 1
"""
# What is fetched stays packed: to write a file for each object, and to copy those files
# for the agent, was a tenth of all the work.


def create_bare(path: Path, branch: str) -> None:
    """Make an empty repository where there is none, whose HEAD names `branch`."""
    for folder in ("objects", "refs"):
        (path / folder).mkdir(parents=True)
    (path / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
    configure_own(path)


def configure_own(path: Path) -> None:
    """Give the witness's repository its configuration, whatever it has now."""
    config = path / "config"
    config.unlink(missing_ok=True)  # it may have become a link
    config.write_text(_WITNESS_CONFIG)
    (path / EVERY_OWNER).write_text("[safe]\n\tdirectory = *\n")


def ignore_files(path: Path, patterns: Iterable[str]) -> None:
    """Let git ignore new files that these patterns name."""
    exclude = path / "info/exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.unlink(missing_ok=True)  # it may have become a link
    text = "".join(f"{each}\n" for each in patterns)
    exclude.write_text(text, encoding="utf-8", errors="surrogateescape")


def configure_agents(path: Path) -> None:
    """Give the agent's repository a configuration that only says who commits."""
    (path / "config").write_text(_CONFIG)


def point_ref(path: Path, ref: str, commit: str) -> None:
    """Point a ref at `commit`, in a repository that nobody else uses."""
    file = path / ref
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{commit}\n")


def ref_value(path: Path, ref: str) -> str:
    """Return the commit that a ref points at; raise FileNotFoundError if packed."""
    return (path / ref).read_text().strip()


LOOKED_MOST: Final = 200_000
"""The most files and folders to check; git would have packed so many objects."""
_ELSEWHERE: Final = (
    *("commondir", "objects/info/alternates", "objects/info/http-alternates"),
)
_LAZY: Final = re.compile("promisor|partialclone|include", re.IGNORECASE)
"""Settings that make git before 2.39.4 fetch missing objects, or read other files."""


def has_foreign_objects(repository: Path) -> bool:
    """Whether any object may lie outside; True also if this cannot be found out."""
    if any(os.path.lexists(repository / each) for each in _ELSEWHERE):
        return True
    if _LAZY.search(left_in(repository, "config")):
        return True
    objects = repository / "objects"
    if objects.is_symlink():
        return True
    try:
        found = list(islice(_links(objects), LOOKED_MOST))
    except OSError:
        return True
    return len(found) == LOOKED_MOST or any(found)


def _links(folder: Path, depth: int = 1) -> Iterator[bool]:
    """Yield, for each file that git reads below a folder, whether it is a link."""
    with os.scandir(folder) as entries:
        for entry in entries:
            yield entry.is_symlink()
            if depth and entry.is_dir(follow_symlinks=False):
                yield from _links(Path(entry.path), depth - 1)
