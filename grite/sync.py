"""Two clones that logged apart meet: the union of their events, on the remote's chain.

The remote's chain is never rewritten. What only this clone holds goes after it as one
chunk, each event with the id, actor and time that it has; then both hold the same.
"""

from collections.abc import Iterator
from typing import Final

from tenacity import (
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from grite.errors import Conflict
from grite.event import Event
from grite.remote import RefUpdate, Remote
from grite.wal import WAL_REF, Log

TRIES: Final = 100
SEEN: Final = "refs/seen/grite/wal"
"""Where the remote's log was last fetched to: all of it is here up to there."""
_SHORTEST_S: Final = 0.02
_LONGEST_S: Final = 1.0
"""Waits between two tries are drawn up to a bound that grows from one to the other."""


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


def union(log: Log, ours: str, theirs: str | None, *, actor: bytes, at_ms: int) -> str:
    """Return a commit that holds the events of both chains and descends from theirs.

    That is theirs itself where it holds all of ours, and ours where it comes after
    theirs; else a new commit after theirs. No ref moves.

    Args:
        log: over a repository that has both chains.
        ours: the head of one.
        theirs: the head of the other, that must be kept; None: it is empty.
        actor: 16 bytes, the writer of a new commit; not of the events in it.
        at_ms: now, unix ms.

    Raises:
        Missing: a commit of one of them is not here.
        Unavailable: it cannot be written.
    """
    if theirs is None or theirs == log.fork(ours, theirs):
        return ours
    events = missing(log, ours, theirs)
    if not events:
        return theirs
    return log.write(events, parent=theirs, actor=actor, at_ms=at_ms)


def sync(log: Log, remote: Remote, *, actor: bytes, at_ms: int) -> str | None:
    """Bring this clone's log and the remote's to the same events; return the head.

    None: neither has any. Safe to cut off anywhere and to call again, and for any
    number of clones at once: who loses a race takes the winner's events in and tries
    again, a hundred times.

    Args:
        log: over the remote's mirror.
        remote: where all clones meet.
        actor: 16 bytes, the writer of the commit that holds what only this clone has.
        at_ms: now, unix ms.

    Raises:
        Conflict: others were faster each time; what is here is kept.
        Unavailable: the remote did not answer; call again.
        Corrupt: its ref holds no log.
        GitFailed: it forbids the push.
    """
    tries = Retrying(
        retry=retry_if_exception_type(Conflict),
        stop=stop_after_attempt(TRIES),
        wait=wait_random_exponential(_SHORTEST_S, max=_LONGEST_S),
        reraise=True,
    )
    return tries(_meet, log, remote, actor, at_ms)


def _meet(log: Log, remote: Remote, actor: bytes, at_ms: int) -> str | None:
    """Meet once.

    Raises:
        Conflict: somebody wrote meanwhile, here or there.
    """
    ours = log.head()
    theirs = remote.refs([WAL_REF]).get(WAL_REF)
    # Not "is the commit here?": a fetch that was killed leaves commits without files.
    if theirs not in {None, ours, log.head(SEEN)}:
        remote.fetch([f"+{WAL_REF}:{SEEN}"])
        theirs = log.head(SEEN)
    head = theirs
    if ours is not None:
        head = union(log, ours, theirs, actor=actor, at_ms=at_ms)
    if head is not None and head != theirs:
        remote.push([RefUpdate(WAL_REF, head, theirs)])
    if head is not None and head != ours:
        log.set_head(head, ours)
    return head


def _events(log: Log, head: str, since: str | None) -> Iterator[Event]:
    for entry in log.read(head, since=since):
        yield from entry.events
