"""The file that names the repository's background bot while one runs.

The file holds the process's pid and start time, so that a later process with the same
pid is never mistaken for the bot.
"""

from pathlib import Path
from typing import Final

import msgspec
import psutil

from brat.repository.state_files import DAEMON_FILE

FILE: Final = DAEMON_FILE


class Daemon(msgspec.Struct, frozen=True, kw_only=True):
    """A process that is, or was, the daemon of a repository."""

    pid: int
    since: float
    """The start time that the system reports, in unix seconds."""
    url: str = ""
    """The dashboard's address, with the token; empty: the daemon is not ready yet."""

    @property
    def alive(self) -> bool:
        """Whether the daemon still runs."""
        try:
            process = psutil.Process(self.pid)
            ended = process.status() == psutil.STATUS_ZOMBIE
            return not ended and process.create_time() == self.since
        except psutil.NoSuchProcess:
            return False


def known(folder: Path) -> Daemon | None:
    """Return the daemon recorded in brat's folder; it may have ended."""
    try:
        return msgspec.json.decode((folder / FILE).read_bytes(), type=Daemon)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None


def note(folder: Path, daemon: Daemon) -> None:
    """Record the daemon in brat's folder; safe to call again."""
    beside = folder / f".{FILE}"
    beside.touch(0o600)
    beside.write_bytes(msgspec.json.encode(daemon))
    beside.rename(folder / FILE)
