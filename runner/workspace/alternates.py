"""Finds out whether an agent's repository refers to objects outside of it.

The witness reads the repository with its own rights. One that refers to other objects,
by alternates, by a link or from a server on this disk, could so hand over files that
the agent cannot read.
https://git-scm.com/docs/gitrepository-layout
"""

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from runner.box.engine_home import left_in

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
