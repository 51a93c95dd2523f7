"""Moves the head of a log in a repository on this machine: the product only pushes."""

from collections.abc import Sequence

import pygit2

from grite.event import Event
from grite.wal import WAL_REF, Log


def set_head(log: Log, new: str, old: str | None) -> None:
    """Move the log's ref to `new`; it has to stand at `old`. None: it is not there."""
    assert log.head() == old
    repository = pygit2.Repository(str(log.folder))
    repository.references.create(WAL_REF, new, force=True)


def appended(
    log: Log, events: Sequence[Event], *, after: str | None, actor: bytes, at_ms: int
) -> str:
    """Write `events` after the head `after`, move the ref, and return the new head."""
    new = log.write(events, parent=after, actor=actor, at_ms=at_ms)
    set_head(log, new, after)
    return new
