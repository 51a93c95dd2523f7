"""The log for people and programs: lines, a follow mode, and two forms of export."""

import itertools
import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from brat.repository.log_reader import authority_of
from convoy.events import Claim, Event as Fact
from convoy.log.record import fact_of
from convoy.text import clean
from convoy.views import history
from convoy.views.history import LogLine
from grite.entry import Entry, foreign
from grite.event import CommentAdded, Event
from grite.wal import Log

FOLLOW_S: Final = 0.5
SCHEMA_VERSION: Final = 1


def entries(path: Path, *, since: str | None = None) -> list[Entry]:
    """Return the log's entries after `since`, oldest first; none when there is no log.

    Raises:
        Corrupt: the log does not descend from `since`.
    """
    log = Log(path)
    tip = log.head()
    if tip is None:
        return []
    head, above = _counting(log, path, tip)
    found = [] if head == since else log.entries(head, since=since)
    return [*found, *map(foreign, reversed(above))]


def newest(path: Path, number: int) -> list[str]:
    """Return the last `number` lines, oldest first, without reading all of the log."""
    log = Log(path)
    tip = log.head()
    if tip is None:
        return []
    head, above = _counting(log, path, tip)
    newest_first = itertools.chain(map(foreign, above), log.newest(head))
    return [*map(_shown, history.last_lines(newest_first, number))]


def _counting(log: Log, path: Path, tip: str) -> tuple[str, tuple[str, ...]]:
    """Return the newest commit that counts, and those above it, newest first.

    All of the log counts where nobody says who may sign it, or no commit is signed.
    """
    authority = authority_of(path)
    found = log.trusted_head(tip, authority) if authority else None
    return (found.head, found.foreign) if found and found.head else (tip, ())


def lines(some: list[Entry]) -> Iterator[str]:
    """Yield a line for each brat event and each fault."""
    return map(_shown, history.log_lines(some))


def _shown(line: LogLine) -> str:
    return f"{_time(line.at)} {line.actor[:8] or '--------'} {clean(line.text)}"


def follow(path: Path) -> Iterator[str]:
    """Yield a line for each event that is logged from now on, without end."""
    log = Log(path)
    tip = log.head()
    since, above = _counting(log, path, tip) if tip else (None, ())
    told = set(above)
    while True:
        new = [each for each in entries(path, since=since) if each.commit not in told]
        yield from lines(new)
        told |= {each.commit for each in new if each.is_foreign}
        since = next((e.commit for e in reversed(new) if not e.is_foreign), since)
        time.sleep(FOLLOW_S)


def as_markdown(some: list[Entry]) -> str:
    """Return the log as a Markdown list, one item an event or fault."""
    return "\n".join(("# Log", "", *(f"- {line}" for line in lines(some)), ""))


def as_json(some: list[Entry]) -> str:
    """Return the log as one JSON object: every event of every kind, and the faults."""
    events = [
        _document(event, entry.commit) for entry in some for event in entry.events
    ]
    faults = [
        {"commit": entry.commit, "fault": fault}
        for entry in some
        for fault in entry.faults
    ]
    meta = {
        "schema_version": SCHEMA_VERSION,
        "wal_head": some[-1].commit if some else None,
        "event_count": len(events),
        "foreign": [entry.commit for entry in some if entry.is_foreign],
    }
    return json.dumps({"meta": meta, "events": events, "faults": faults}, indent=1)


def _document(event: Event, commit: str) -> dict[str, Any]:
    kind = msgspec.to_builtins(event.kind)  # bytes become base64
    document: dict[str, Any] = {
        "event_id": event.id.hex(),
        "issue_id": event.issue.hex(),
        "actor": event.actor.hex(),
        "ts_unix_ms": event.ts,
        "commit": commit,
        "kind": {type(event.kind).__name__: kind},
    }
    if isinstance(event.kind, CommentAdded):
        fact = fact_of(event.kind.body)
        if isinstance(fact, Fact | Claim):
            document["brat"] = msgspec.to_builtins(fact)
    return document


def _time(at_ms: int) -> str:
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d %H:%M:%S}"
