"""Finds, signals and reaps all processes that descend from this one.

On Linux this process becomes the parent of every orphan below it. So when it has no
child, nothing is left, and no daemon escapes by forking twice. On other systems an
orphan can only be reached through its process group.
https://man7.org/linux/man-pages/man2/pr_set_child_subreaper.2const.html
"""

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_PR_SET_CHILD_SUBREAPER, _PR_GET_CHILD_SUBREAPER = 36, 37
_STAT_BYTES = 4096


@contextmanager
def adopting_orphans() -> Iterator[None]:
    """Be the parent of the orphans among our descendants while the block lasts.

    Afterwards orphans get their usual parent again: if this process stayed their parent
    without reaping, each of them would become a zombie.

    Raises:
        OSError: the system can do this but refuses.
    """
    if sys.platform != "linux":
        yield
        return
    before = ctypes.c_int()
    _prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(before))
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        _prctl(_PR_SET_CHILD_SUBREAPER, before.value)


def _prctl(option: int, value: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def reap() -> tuple[dict[int, int], bool]:
    """Reap the children that have ended.

    Returns:
        Their wait statuses by process id, and whether a child is left.
    """
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended, False
        if pid == 0:
            return ended, True
        ended[pid] = status


def send(number: int, group: int, spared: frozenset[int] = frozenset()) -> None:
    """Send a signal to every descendant that is not spared.

    On systems other than Linux, the process group `group` gets the signal, too.
    """
    if sys.platform != "linux":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
    for pid in descendants():
        if pid in spared:
            continue
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def descendants() -> list[int]:
    """Return the ids of all processes below this one, parents first."""
    if sys.platform != "linux":
        import psutil  # takes 55 ms, and is needed only here

        return [each.pid for each in psutil.Process().children(recursive=True)]
    return _below(os.getpid(), _children())


def _children() -> dict[int, list[int]]:
    # Not with a Path for each: a machine has hundreds, and each session looks thrice.
    # Nor by the kernel's lists of children, which leave out some while others end.
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208  as above
        if name.isdigit():
            try:
                number = os.open(f"/proc/{name}/stat", os.O_RDONLY)
            except OSError:
                continue  # it ended in the meantime
            with contextlib.suppress(ProcessLookupError):
                stat = os.read(number, _STAT_BYTES)
                # The program's name, in parentheses, may hold blanks and parentheses.
                parent = int(stat[stat.rindex(b")") + 2 :].split(None, 2)[1])
                children.setdefault(parent, []).append(int(name))
            os.close(number)
    return children


def _below(root: int, children: dict[int, list[int]]) -> list[int]:
    found: list[int] = []
    left = [root]
    while left:
        below = children.get(left.pop(), [])
        found += below
        left += below
    return found
