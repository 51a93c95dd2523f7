"""Short ways to write to a log."""

from grite.event import CommentAdded, Event
from grite.wal import Log
from tests.grite.vectors import ACTOR, ISSUE, T0
from tests.world.local_log import appended


def comment(text: str, ts: int = T0) -> Event:
    return Event(ISSUE, ACTOR, ts, CommentAdded(text))


def append(log: Log, *some: Event, at_ms: int = T0) -> str:
    return appended(log, some, after=log.head(), actor=ACTOR, at_ms=at_ms)
