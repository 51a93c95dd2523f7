"""The user that a session's agent becomes where the witness is root: one of its own.

The number belongs to nobody on the machine and to no other session at the same time, so
an agent can neither read nor end what others run. Only root can become another user;
elsewhere the agent stays the witness's user, without rights outside its namespaces.
https://systemd.io/UIDS-GIDS/
"""

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_ABOVE_ALL: Final = 1_900_000_000
"""Above every range that systemd and container tools hand out."""
_UNUSED: Final = range(60_578, 61_184)
"""Numbers that nobody hands out, for containers that know only 65,536 users."""
_MAPS: Final = ("/proc/self/uid_map", "/proc/self/gid_map")


_PROCESSES: Final = 1 << 22
"""No process has a higher number.
https://man7.org/linux/man-pages/man5/proc_sys_kernel.5.html
"""
_AT_ONCE: Final = 50
_TAKEN: Final[set[int]] = set()
"""Which boxes of this process have a user now: the local forge's CI has several."""
_TAKING: Final = threading.Lock()


@contextmanager
def own_number() -> Iterator[int | None]:
    """Lend the number of a box's user and group; None: the witness's own.

    Boxes of one process that follow each other have the same.
    """
    if os.getuid() != 0:
        yield None
        return
    with _TAKING:
        box = next(each for each in range(_AT_ONCE) if each not in _TAKEN)
        _TAKEN.add(box)
    try:
        yield _number(box)
    finally:
        _TAKEN.discard(box)


def _number(box: int) -> int | None:
    process = os.getpid()
    high = _ABOVE_ALL + box * _PROCESSES + process
    for number in (high, _UNUSED[(process + box) % len(_UNUSED)]):
        if all(_knows(Path(each), number) for each in _MAPS):
            return number
    return None


def _knows(users: Path, number: int) -> bool:
    try:
        lines = [line.split() for line in users.read_text("ascii").splitlines()]
    except OSError:
        return False
    return any(int(a) <= number < int(a) + int(count) for a, _, count in lines)


def give(places: Iterable[Path], number: int) -> None:
    """Make the user the owner of the places and all that lies below them.

    Call it while no program of an agent runs. Links are not followed.

    Raises:
        OSError: this process may not do so.
    """
    for place in places:
        for path, owner in _all_below(place):
            if owner != number:
                os.chown(path, number, number, follow_symlinks=False)


def _all_below(place: Path) -> Iterator[tuple[str, int]]:
    # Not with a Path for each: a checkout may have 50,000 files.
    found = os.lstat(place)
    yield str(place), found.st_uid
    left = [str(place)] if place.is_dir() and not place.is_symlink() else []
    while left:
        with os.scandir(left.pop()) as entries:
            for each in entries:
                yield each.path, each.stat(follow_symlinks=False).st_uid
                if each.is_dir(follow_symlinks=False):
                    left.append(each.path)
