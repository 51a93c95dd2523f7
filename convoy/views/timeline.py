"""The log told to people: one line an event. Pure."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from convoy.events import Claim, Event
from convoy.log.codec import fact_of
from grite.entry import Entry
from grite.event import CommentAdded, Event as GriteEvent


class Line(Struct, frozen=True):
    """What one event says, or one thing that is wrong with the log."""

    at: int
    """Unix ms."""
    actor: str
    """Hex; empty for a fault."""
    convoy: str
    """Empty: it is about none."""
    text: str


def lines(entries: list[Entry]) -> Iterator[Line]:
    """Give a line for each brat event, fault and foreign commit, in the log's order."""
    for one in entries:
        if one.is_foreign:
            said = f"commit {one.commit[:10]} is foreign: it counts for nothing"
            yield Line(one.at_ms, "", "", said)
        for event in one.events:
            if line := _line(event):
                yield line
        for fault in one.faults:
            yield Line(one.at_ms, "", "", f"fault in {one.commit[:10]}: {fault}")


def facts(
    entries: Iterable[Entry], bots: frozenset[str]
) -> Iterator[tuple[int, Event]]:
    """Give what bots wrote, with its time (unix ms), in the log's order.

    Args:
        entries: of the log, oldest first.
        bots: their actors, as the state knows them; nobody else's events count.
    """
    for one in entries:
        for event in one.events:
            if isinstance(event.kind, CommentAdded) and event.actor.hex() in bots:
                fact = fact_of(event.kind.body)
                if isinstance(fact, Event):
                    yield event.ts, fact


def last(newest_first: Iterable[Entry], number: int) -> tuple[Line, ...]:
    """Return the log's last lines, oldest first; takes no more entries than it needs.

    Args:
        newest_first: entries of the log, the newest first.
        number: how many lines at most.
    """
    found: list[Line] = []
    for one in newest_first:
        found[:0] = lines([one])
        if len(found) >= number:
            break
    return tuple(found[-number:])


def _line(event: GriteEvent) -> Line | None:
    if not isinstance(event.kind, CommentAdded):
        return None
    fact = fact_of(event.kind.body)
    if not isinstance(fact, Event | Claim):
        return None
    text, _, _ = event.kind.body.partition("\n")
    convoy = str(getattr(fact, "convoy", ""))
    return Line(event.ts, event.actor.hex(), convoy, text)
