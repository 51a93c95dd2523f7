"""What we write, another reader reads; what another writes in its ways, we read."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from grite import chunk
from grite.event import Event, payload_of
from grite.remote import ensure_mirror
from grite.wal import Log
from tests.grite import grite_reader
from tests.grite.anything import events
from tests.grite.commits import commit
from tests.grite.plain import plain_chunk
from tests.grite.test_quarantine import by_hand, meta_for
from tests.grite.vectors import ACTOR, T0, VECTORS, vector
from tests.grite.writing import append
from tests.world.local_log import appended, set_head
from tests.world.log_keys import LOG_KEY

EVERY = [vector(number)[0] for number in range(1, len(VECTORS) + 1)]


def row(event: Event) -> list[Any]:
    """Return an event as the other reader gives it."""

    def lists(value: object) -> object:
        return [lists(v) for v in value] if isinstance(value, tuple) else value

    front = [event.id, event.issue, event.actor, event.ts, event.parent]
    return [*front, event.kind.tag, lists(payload_of(event.kind)), event.sig]


def test_every_kind_that_we_write_is_read(mirror: Path, log: Log) -> None:
    append(log, *EVERY[:5])
    append(log, EVERY[5])
    head = append(log, *EVERY[6:])

    read = grite_reader.read(mirror, head)

    # Its own order: each list turned around, and so each chunk's.
    assert read == [row(e) for e in (*EVERY[:5][::-1], EVERY[5], *EVERY[6:][::-1])]


@settings(deadline=None, max_examples=30)
@given(st.lists(events.filter(lambda e: e.kind.tag < 15), min_size=1, max_size=3))
def test_whatever_we_write_is_read(
    tmp_path_factory: pytest.TempPathFactory, some: list[Event]
) -> None:
    data = chunk.encode(some)

    assert grite_reader.chunk_events(data) == [row(event) for event in some]


def test_a_log_in_the_others_ways_is_read(mirror: Path, log: Log) -> None:
    first = plain_chunk(EVERY[:3]) + b"and more"
    second = plain_chunk(EVERY[3:][::-1])
    one = commit(mirror, by_hand(meta_for(first), first))
    head = commit(mirror, by_hand(meta_for(second, prev_wal=one), second), one)

    entries = log.entries(head)

    assert [entry.faults for entry in entries] == [(), ()]
    assert [e for entry in entries for e in entry.events] == [
        *EVERY[:3],
        *EVERY[3:][::-1],
    ]
    assert {entry.actor for entry in entries} == {ACTOR}
    assert sorted(map(str, grite_reader.read(mirror, head))) == sorted(
        str(row(event)) for event in EVERY
    )


def test_both_read_on_in_a_log_that_both_wrote(tmp_path: Path) -> None:
    path = tmp_path / "log.git"
    ensure_mirror(path)
    log = Log(path, LOG_KEY.writer())  # grite looks at no signature
    ours = append(log, EVERY[0])
    data = plain_chunk([EVERY[1]])
    theirs = commit(path, by_hand(meta_for(data, prev_wal=ours), data), ours)
    set_head(log, theirs, ours)
    head = appended(log, [EVERY[2]], after=theirs, actor=ACTOR, at_ms=T0)

    assert [entry.events for entry in log.entries(head)] == [(e,) for e in EVERY[:3]]
    assert grite_reader.read(path, head) == [row(event) for event in EVERY[:3]]
