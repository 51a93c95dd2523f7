"""Which roles other processes on this machine carry out now.

Each process shares a lock on a file for each of its roles. The system frees the lock
when the process ends, however it ends.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from bot.settings.bot_settings import ROLES
from convoy.owed import Role

FOLDER: Final = "roles"

Elsewhere = Callable[[], frozenset[Role]]
"""Takes this process's own word back, and returns which roles others carry out."""


@contextmanager
def carried_out(folder: Path, roles: tuple[Role, ...]) -> Iterator[Elsewhere]:
    """Say, as long as the context is open, that this process carries out `roles`.

    Args:
        folder: brat's folder.
        roles: of this process.
    """
    place = folder / FOLDER
    place.mkdir(parents=True, exist_ok=True)
    with ExitStack() as own:
        for role in roles:
            fcntl.flock(own.enter_context(_opened(place / role)), fcntl.LOCK_SH)
        yield partial(_elsewhere, place, own)


def _elsewhere(place: Path, own: ExitStack) -> frozenset[Role]:
    # Of two processes that end at once, each would otherwise trust in the other.
    own.close()
    return frozenset(role for role in ROLES if _is_locked(place / role))


def _is_locked(file: Path) -> bool:
    with _opened(file) as lock, suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    return True


@contextmanager
def _opened(file: Path) -> Iterator[int]:
    lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield lock
    finally:
        os.close(lock)
