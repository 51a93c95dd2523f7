"""Reading on in the log from what is known: what everybody who folds it does."""

from dataclasses import dataclass, field
from typing import Final

from convoy.log.record import fold
from convoy.model.state import State
from grite.wal import Log


@dataclass(frozen=True, slots=True)
class Reading:
    """What the log says up to a commit."""

    state: State = field(default_factory=State)
    """Its moment names the commit."""
    faults: tuple[str, ...] = ()
    """What could not be read on the way, by commit."""
    events: int = 0
    """How many of any kind were read to get here from where the reading began."""

    @property
    def head(self) -> str | None:
        """The commit; None: nothing is read yet."""
        return self.state.moment.commit or None


NOTHING: Final = Reading()


def follow(log: Log, head: str, known: Reading = NOTHING) -> Reading:
    """Fold what was logged after what is known, up to `head`.

    Commits that the log lists as foreign are left out.

    Args:
        log: where.
        head: the commit to read up to; whoever asks has seen that it counts.
        known: where to go on; nothing begins at the log's first commit.

    Raises:
        Rewritten: `head` does not descend from what is known.
        Missing: the log is not all here, as in a shallow clone.
    """
    state, events = known.state, known.events
    faults: list[str] = []
    for entry in log.read(head, since=known.head, whole=True):
        if entry.is_foreign:
            continue
        state = fold(state, entry.commit, entry.events, entry.actor)
        faults += (f"{entry.commit}: {fault}" for fault in entry.faults)
        events += len(entry.events)
    return Reading(state, (*known.faults, *faults), events)
