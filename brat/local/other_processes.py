"""What other processes on this machine do for a repository: its daemon, and its roles.

A file names the repository's background bot while one runs. It holds the process's pid
and start time, so that a later process with the same pid is never mistaken for the bot.

Each process shares a lock on a file for each of its roles. The system frees the lock
when the process ends, however it ends.
"""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
import psutil

from bot.settings.bot_settings import ROLES
from brat.repository.registration import DAEMON_FILE, write_private
from convoy.owed import Role


class Daemon(msgspec.Struct, frozen=True, kw_only=True):
    """A process that is, or was, the daemon of a repository."""

    pid: int
    since: float
    """The start time that the system reports, in unix seconds."""
    url: str = ""
    """The dashboard's address, with the token; empty: the daemon is not ready yet."""

    @property
    def alive(self) -> bool:
        try:
            process = psutil.Process(self.pid)
            ended = process.status() == psutil.STATUS_ZOMBIE
            return not ended and process.create_time() == self.since
        except psutil.NoSuchProcess:
            return False


def known_daemon(folder: Path) -> Daemon | None:
    """Return the daemon recorded in brat's folder; it may have ended."""
    try:
        return msgspec.json.decode((folder / DAEMON_FILE).read_bytes(), type=Daemon)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None


def note_daemon(folder: Path, daemon: Daemon) -> None:
    """Record the daemon in brat's folder; safe to call again."""
    write_private(folder / DAEMON_FILE, msgspec.json.encode(daemon))


ROLES_FOLDER: Final = "roles"

Elsewhere = Callable[[], frozenset[Role]]
"""Takes this process's own word back, and returns which roles others carry out."""


@contextmanager
def carried_out(folder: Path, roles: tuple[Role, ...]) -> Iterator[Elsewhere]:
    """Say, as long as the context is open, that this process carries out `roles`."""
    place = folder / ROLES_FOLDER
    place.mkdir(parents=True, exist_ok=True)
    with ExitStack() as own:
        for role in roles:
            fcntl.flock(own.enter_context((place / role).open("ab")), fcntl.LOCK_SH)
        yield partial(_elsewhere, place, own)


def _elsewhere(place: Path, own: ExitStack) -> frozenset[Role]:
    # Of two processes that end at once, each would otherwise trust in the other.
    own.close()
    return frozenset(role for role in ROLES if _is_locked(place / role))


def _is_locked(file: Path) -> bool:
    with file.open("ab") as lock, suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    return True
