"""Reading the log: the state of a repository, without a bot or a forge."""

from dataclasses import dataclass, field
from pathlib import Path

from convoy.record import fold
from convoy.state import State
from grite.wal import WAL_REF, Log

__all__ = ["WAL_REF", "Reader"]


@dataclass
class Reader:
    """Follows the log in one repository; each read costs only the new tail."""

    path: Path
    """A repository, bare or not."""
    state: State = field(default_factory=State)
    faults: tuple[str, ...] = ()

    def read(self) -> State:
        """Return the state the log stands at now; safe to call any time.

        Raises:
            Corrupt: the log does not descend from what was read before.
        """
        log = Log(self.path)
        head = log.head()
        if head is None or head == self.state.moment.commit:
            return self.state
        for entry in log.entries(head, since=self.state.moment.commit or None):
            self.state = fold(self.state, entry.commit, entry.events)
            self.faults += tuple(f"{entry.commit}: {f}" for f in entry.faults)
        return self.state
