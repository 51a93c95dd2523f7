"""Whether an agent's repository shows objects that lie elsewhere.

The witness reads it with its own rights, so a repository that borrows, by alternates,
by a link or from a server on this disk, would hand over what the agent cannot read.
https://git-scm.com/docs/gitrepository-layout
"""

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from runner.home import left_in

LOOKED_MOST: Final = 200_000
"""Files and folders; git would have packed so many."""
_ELSEWHERE: Final = (
    *("commondir", "objects/info/alternates", "objects/info/http-alternates"),
)
_LAZY: Final = re.compile("promisor|partialclone|include", re.IGNORECASE)
"""Settings by which git before 2.39.4 fetches what is missing, or reads others."""


def borrows(repository: Path) -> bool:
    """Whether any of it may lie elsewhere; what cannot be looked at may."""
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
    """Say of all that git looks at below a folder whether it is a link."""
    with os.scandir(folder) as entries:
        for entry in entries:
            yield entry.is_symlink()
            if depth and entry.is_dir(follow_symlinks=False):
                yield from _links(Path(entry.path), depth - 1)
