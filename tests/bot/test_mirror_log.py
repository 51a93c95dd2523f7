"""A log that is not as it was: refused where history is lost, read where it is odd."""

import pytest

from bot.mirror import Mirror
from convoy.codec import body_of
from convoy.events import BotStarted
from grite import git
from grite.errors import Corrupt
from grite.event import CommentAdded, Event
from grite.wal import WAL_REF, Log
from tests.bot.history import History
from tests.bot.logs import Open, paused, read, resumed, story, write
from tests.world.rules import ACTOR, NAME


@pytest.fixture
def read_twice(mirror: Mirror) -> Mirror:
    """Give a mirror that knows two commits of the log."""
    mirror.look()
    write(mirror, *story())
    write(mirror, *paused(mirror))
    return mirror


def test_a_deleted_log_is_refused_with_what_to_do(
    read_twice: Mirror, origin: History
) -> None:
    origin.repo.references.delete(WAL_REF)

    with pytest.raises(Corrupt, match="the log was deleted") as refused:
        read_twice.look()

    assert f"git push REMOTE {read_twice.head}:{WAL_REF}" in str(refused.value)
    assert read_twice.state.convoys[NAME].state == "paused"


def test_a_rewound_log_is_refused(read_twice: Mirror, origin: History) -> None:
    head = read_twice.head
    assert head is not None
    (before,) = origin.at(head).parent_ids
    origin.point(WAL_REF, str(before))

    with pytest.raises(Corrupt, match=f"does not descend from {head}"):
        read_twice.look()

    assert read_twice.head == head


def test_another_log_in_its_place_is_refused(
    read_twice: Mirror, origin: History
) -> None:
    log = Log(origin.path)
    events = story()
    origin.point(WAL_REF, log.write(events, parent=None, actor=ACTOR, at_ms=1))

    with pytest.raises(Corrupt, match="does not descend"):
        read_twice.look()


def test_a_log_that_was_pushed_back_is_read_on(
    read_twice: Mirror, origin: History
) -> None:
    origin.repo.references.delete(WAL_REF)
    with pytest.raises(Corrupt):
        read_twice.look()

    url = origin.path.as_uri()
    git.run(
        ["push", "--quiet", url, f"{read_twice.head}:{WAL_REF}"], cwd=read_twice.path
    )
    read_twice.look()
    write(read_twice, *resumed(read_twice))

    assert read(origin) == read_twice.state


def test_what_cannot_be_read_is_named_and_the_rest_counts(
    read_twice: Mirror, origin: History, opened: Open
) -> None:
    head = read_twice.head
    assert head is not None
    odd = origin.commit({"events": b"no folder"}, head)
    origin.point(WAL_REF, odd)

    read_twice.look()

    assert read_twice.faults
    assert all(fault.startswith(f"{odd}: ") for fault in read_twice.faults)
    assert read_twice.state.convoys[NAME].state == "paused"
    write(read_twice, *resumed(read_twice))
    other = opened("other")
    other.look()
    assert (other.state, other.faults) == (read_twice.state, read_twice.faults)


def test_a_newer_bots_events_are_kept_in_sight(
    read_twice: Mirror, origin: History, opened: Open
) -> None:
    body = body_of(BotStarted(version="1"), "x").replace("bot.started", "bot.retired")
    newer = Event(bytes(16), ACTOR, 9_000_000, CommentAdded(body))
    other = opened("other")
    other.look()
    write(other, newer)

    read_twice.look()

    assert read_twice.state.unknown == ("bot.retired",)
