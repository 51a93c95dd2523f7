"""Processes that log at once share commits, and each event is there once."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from grite.errors import Unavailable
from grite.event import CommentAdded, Event
from grite.group import FOLDER, Group
from grite.wal import Log
from tests.grite.cut import STEPS, dying
from tests.grite.vectors import ACTOR, ISSUE, T0
from tests.grite.writing import append, comment
from tests.world import forked

PLACES = (*STEPS, (os, "write"), (os, "listdir"), (Path, "rename"), (Path, "unlink"))


def events(log: Log) -> list[Event]:
    head = log.head()
    read = log.entries(head) if head else []
    assert not any(entry.faults for entry in read)
    return [event for entry in read for event in entry.events]


def texts(log: Log) -> list[str]:
    kinds = [event.kind for event in events(log)]
    return [kind.body for kind in kinds if isinstance(kind, CommentAdded)]


def add(mirror: Path, *some: Event) -> str:
    return Group(Log(mirror)).append(some, actor=ACTOR, at_ms=T0)


def test_what_is_added_is_in_the_log(mirror: Path, log: Log) -> None:
    first = add(mirror, comment("a"), comment("b"))
    append(log, comment("c"))
    head = add(mirror, comment("d"))

    assert log.entries(first)[0].events == (comment("a"), comment("b"))
    assert log.head() == head
    assert texts(log) == [*"abcd"]
    assert [file.name for file in (mirror / FOLDER).iterdir()] == ["lock"]


def test_no_events_are_no_entry(mirror: Path) -> None:
    with pytest.raises(ValueError, match="at least one"):
        add(mirror)


def test_processes_that_add_at_once_lose_nothing(mirror: Path, log: Log) -> None:
    writers, many = 8, 20

    def writer(number: int) -> Callable[[], None]:
        actor = bytes([number]) * 16

        def write() -> None:
            mine = Group(Log(mirror))
            for k in range(many):
                event = Event(ISSUE, actor, T0 + k, CommentAdded(f"{k}"))
                head = mine.append([event], actor=actor, at_ms=T0)
                assert event in events_of(Log(mirror), head)

        return write

    assert forked.run(*map(writer, range(writers))) == [0] * writers

    kept = events(log)
    for number in range(writers):
        mine = [event.ts - T0 for event in kept if event.actor[0] == number]
        assert mine == [*range(many)]


def events_of(log: Log, head: str) -> set[Event]:
    return {event for entry in log.entries(head) for event in entry.events}


def test_whoever_dies_in_it_has_logged_once_or_not_at_all(
    mirror: Path, log: Log
) -> None:
    append(log, comment("first"))
    ends: list[int] = []
    while not ends or ends[-1] != 0:
        number = len(ends)

        def one(number: int = number) -> None:
            with dying(number, forked.die, PLACES):
                add(mirror, comment(f"died {number}", T0 + number))

        ends += forked.run(one)
        if number % 3 == 0:
            append(log, comment(f"beside {number}"))
        add(mirror, comment(f"after {number}"))

    assert len(ends) > 10
    assert set(ends[:-1]) == {-9}
    kept = texts(log)
    assert len(kept) == len(set(kept))
    numbers = range(len(ends))
    assert [t for t in kept if "after" in t] == [f"after {n}" for n in numbers]
    assert f"died {numbers[-1]}" in kept
    assert "died 0" not in kept


@pytest.mark.parametrize("rubbish", [b"WAIT", b"WAIT" * 20, bytes(9), b"x"])
def test_half_a_chunk_in_the_line_is_passed_over(
    rubbish: bytes, mirror: Path, log: Log
) -> None:
    add(mirror, comment("a"))
    (mirror / FOLDER / "line").write_bytes(rubbish)

    add(mirror, comment("b"))
    add(mirror, comment("c"))

    assert texts(log) == [*"abc"]


def test_a_full_disk_is_unavailable(
    mirror: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write

    def half(file: int, data: bytes) -> int:
        return real(file, data[: len(data) // 2])

    mine = Group(Log(mirror))
    monkeypatch.setattr(os, "write", half)
    with pytest.raises(Unavailable, match="No space left"):
        mine.append([comment("a")], actor=ACTOR, at_ms=T0)
    monkeypatch.undo()

    mine.append([comment("b")], actor=ACTOR, at_ms=T0)
    assert events(Log(mirror)) == [comment("b")]
