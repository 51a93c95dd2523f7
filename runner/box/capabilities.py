"""Gives up the rights by which root undoes the walls around it.

https://man7.org/linux/man-pages/man7/capabilities.7.html
"""

import ctypes

_DROP_RIGHT, _RIGHTS = 24, 64
_KEPT = frozenset({0, 1, 2, 3, 4, 5, 6, 7})
"""Rights over files, signals and users, by which the witness's own programs read what
another user made; the agent's lose them, too, by becoming another user."""


def give_up() -> None:
    """Let no program that this process becomes have the other rights; safe twice.

    Without root there is nothing to give up, and the kernel refuses it.
    """
    libc = ctypes.CDLL(None)
    for right in range(_RIGHTS):
        if right not in _KEPT:
            libc.prctl(_DROP_RIGHT, right, 0, 0, 0)  # the kernel may not know it
