"""The log for people and programs: lines, a follow mode, and two forms of export."""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from convoy.events import Claim, Event as Fact
from convoy.log.codec import fact_of
from convoy.text.plaintext import clean
from convoy.views import timeline
from convoy.views.timeline import Line
from grite.event import CommentAdded, Event
from grite.wal import Entry, Log

FOLLOW_S: Final = 0.5
SCHEMA_VERSION: Final = 1


def entries(path: Path, *, since: str | None = None) -> list[Entry]:
    """Return the log's entries after `since`, oldest first; none when there is no log.

    Raises:
        Corrupt: the log does not descend from `since`.
    """
    log = Log(path)
    head = log.head()
    return [] if head is None or head == since else log.entries(head, since=since)


def newest(path: Path, number: int) -> list[str]:
    """Return the last `number` lines, oldest first, without reading all of the log."""
    log = Log(path)
    head = log.head()
    if head is None:
        return []
    return [*map(_shown, timeline.last(log.newest(head), number))]


def lines(some: list[Entry]) -> Iterator[str]:
    """Yield a line for each brat event and each fault."""
    return map(_shown, timeline.lines(some))


def _shown(line: Line) -> str:
    return f"{_time(line.at)} {line.actor[:8] or '--------'} {clean(line.text)}"


def follow(path: Path) -> Iterator[str]:
    """Yield a line for each event that is logged from now on, without end."""
    since = Log(path).head()
    while True:
        new = entries(path, since=since)
        yield from lines(new)
        since = new[-1].commit if new else since
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
