"""What a repository's folder says of its bot in the background: the process, if any.

The file names the process and when it began, so that another process which was given
the same number later is never taken for it.
"""

from pathlib import Path
from typing import Final

import msgspec
import psutil

from brat.places import DAEMON_FILE

FILE: Final = DAEMON_FILE


class Daemon(msgspec.Struct, frozen=True, kw_only=True):
    """A process that is, or was, the daemon of a repository."""

    pid: int
    since: float
    """When it began, unix seconds, as the system says."""
    url: str = ""
    """Of its dashboard, with the token; empty: it is not ready yet."""

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        try:
            process = psutil.Process(self.pid)
            ended = process.status() == psutil.STATUS_ZOMBIE
            return not ended and process.create_time() == self.since
        except psutil.NoSuchProcess:
            return False


def known(folder: Path) -> Daemon | None:
    """Return the daemon that brat's folder speaks of; it may have ended."""
    try:
        return msgspec.json.decode((folder / FILE).read_bytes(), type=Daemon)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None


def note(folder: Path, daemon: Daemon) -> None:
    """Keep in brat's folder who the daemon is; safe to call again."""
    beside = folder / f".{FILE}"
    beside.touch(0o600)
    beside.write_bytes(msgspec.json.encode(daemon))
    beside.rename(folder / FILE)
