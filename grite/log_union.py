"""Two chains that were logged apart become one that holds the events of both.

Neither chain is rewritten. What only one of them holds goes after the other as one
chunk, each event with the id, actor and time that it has.
"""

from collections.abc import Iterator

from grite.event import Event
from grite.wal import Log


def missing(log: Log, ours: str, theirs: str | None) -> tuple[Event, ...]:
    """Return the events of our chain that theirs has not, each once, in our order.

    Both chains are in the log's repository; None: theirs is empty.

    Raises:
        Missing: a commit of one of them is not here.
    """
    fork = None if theirs is None else log.fork(ours, theirs)
    there = set[bytes]()
    if theirs is not None:
        there.update(event.id for event in _events(log, theirs, fork))
    found: dict[bytes, Event] = {}
    for event in _events(log, ours, fork):
        if event.id not in there:
            found.setdefault(event.id, event)
    return tuple(found.values())


def union(
    log: Log,
    ours: str,
    theirs: str | None,
    *,
    actor: bytes,
    at_ms: int,
    but: bytes | None = None,
) -> str:
    """Return a commit that holds the events of both chains and descends from theirs.

    That is theirs itself where it holds all of ours, and ours where it comes after
    theirs; else a new commit after theirs. No ref moves.

    Args:
        log: over a repository that has both chains.
        ours: the head of one.
        theirs: the head of the other, that must be kept; None: it is empty.
        actor: 16 bytes, the writer of a new commit; not of the events in it.
        at_ms: now, unix ms.
        but: an actor whose events are left out.

    Raises:
        Missing: a commit of one of them is not here.
        Unavailable: it cannot be written.
    """
    if theirs is None or theirs == log.fork(ours, theirs):
        return ours
    events = [each for each in missing(log, ours, theirs) if each.actor != but]
    if not events:
        return theirs
    return log.write(events, parent=theirs, actor=actor, at_ms=at_ms)


def _events(log: Log, head: str, since: str | None) -> Iterator[Event]:
    for one in log.read(head, since=since):
        yield from one.events
