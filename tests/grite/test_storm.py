"""Many processes that log at once, each in its own clone: nobody loses anything."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grite import sync
from grite.event import CommentAdded, Event
from grite.remote import ensure_mirror
from grite.wal import WAL_REF, Log
from tests.grite.vectors import ISSUE, T0
from tests.world import forked
from tests.world.remotes import Address, by_file, by_http

WRITERS = 16


@pytest.fixture(params=["file", "http"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Address]:
    if request.param == "file":
        yield by_file(tmp_path)
        return
    with by_http(tmp_path / "served") as served:
        yield served


def writer(folder: Path, address: Address, number: int) -> Callable[[], None]:
    """Return what logs two events in a new clone and meets the others."""
    actor = bytes([number]) * 16

    def write() -> None:
        path = folder / f"{number}.git"
        ensure_mirror(path)
        log = Log(path)
        for k in range(2):
            event = Event(ISSUE, actor, T0 + k, CommentAdded(f"{k}"))
            log.append([event], after=log.head(), actor=actor, at_ms=T0)
        sync.sync(log, address.remote(path), actor=actor, at_ms=T0)

    return write


def test_of_sixteen_that_write_at_once_each_keeps_all(
    tmp_path: Path, address: Address
) -> None:
    writers = [writer(tmp_path, address, number) for number in range(WRITERS)]

    assert forked.run(*writers) == [0] * WRITERS

    read = Log(address.bare).entries(address.refs()[WAL_REF])
    assert not any(entry.faults for entry in read)
    kept = [(event.actor[0], event.kind) for entry in read for event in entry.events]
    assert sorted(kept, key=str) == sorted(
        ((n, CommentAdded(f"{k}")) for n in range(WRITERS) for k in range(2)), key=str
    )
