"""Finds the programs that we run ourselves where no agent can have put them.

A folder of PATH that its user may write (`~/.local/bin`, a virtual environment) may
hold a `git` that an agent wrote. So a program is looked for first where only root may
write, and is run by its whole name from then on. Where it is nowhere else, as on
machines where people install programs as themselves, the first one of PATH is taken.
"""

import os
import stat
from functools import cache
from pathlib import Path
from typing import Final

SYSTEM: Final = ("/usr/local/bin", "/usr/bin", "/bin")


def found(name: str) -> str:
    """Return the whole name of a program, or its plain name if there is none.

    It is looked for once per value of PATH; later calls return the same.
    """
    return _found(name, tuple(os.get_exec_path()))


def folders() -> str:
    """Return a PATH of only the folders that nobody but root may write."""
    return _folders(tuple(os.get_exec_path()))


@cache
def _found(name: str, search: tuple[str, ...]) -> str:
    candidates = [Path(each, name) for each in search]
    there = [each for each in candidates if os.access(each, os.X_OK) and each.is_file()]
    for each in there:
        if is_roots(each):
            return str(each)
    return str(there[0].absolute()) if there else name


@cache
def _folders(search: tuple[str, ...]) -> str:
    kept = [each for each in search if os.path.isabs(each) and is_roots(Path(each))]  # noqa: PTH117
    return os.pathsep.join(dict.fromkeys((*kept, *SYSTEM)))


def is_roots(path: Path) -> bool:
    """Whether only root may change what is found at a path, and what it links to."""
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return False
    above = {each.resolve() for each in (path.parent, real)}
    return all(_is_closed(one) for each in above for one in (each, *each.parents))


def _is_closed(path: Path) -> bool:
    """Whether nobody but root may write to it, or, where all may, change others' files.

    https://man7.org/linux/man-pages/man7/inode.7.html
    """
    status = path.stat()
    others = stat.S_IWGRP | stat.S_IWOTH
    is_shared = bool(status.st_mode & stat.S_ISVTX)
    return status.st_uid == 0 and (is_shared or not status.st_mode & others)
