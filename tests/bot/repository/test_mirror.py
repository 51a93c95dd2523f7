"""The bot's clone: looking, pushing, and never believing what was not pushed."""

import shutil

import pytest

from bot.repository.mirror import Mirror
from convoy.model.state import State
from grite.errors import Conflict
from grite.remote import RefUpdate
from grite.wal import WAL_REF
from tests.bot.history import History
from tests.bot.logs import Open, paused, read, resumed, story, write
from tests.world.rules import ACTOR, NAME

MAIN = "refs/heads/main"
WORK = "refs/heads/convoy/fix-7/task-1"
LOCK = "refs/grite/locks/0123456789abcdef"


def move(mirror: Mirror, ref: str, new: str | None) -> dict[str, RefUpdate]:
    return {ref: RefUpdate(ref, new, mirror.refs.get(ref))}


# --- looking --------------------------------------------------------------------------


def test_an_empty_remote_says_nothing(mirror: Mirror) -> None:
    mirror.look()

    assert (mirror.refs, mirror.head, mirror.state) == ({}, None, State())


def test_branches_are_brought_and_other_refs_only_seen(
    mirror: Mirror, origin: History
) -> None:
    first, second = origin.commit({"a": b"1"}), origin.commit({"b": b"1"})
    lock = origin.commit({"lock.json": b"{}"})
    origin.point(MAIN, first)
    origin.point(WORK, second)
    origin.point(LOCK, lock)
    origin.point("refs/pull/1/head", second)

    mirror.look()

    assert mirror.refs == {MAIN: first, WORK: second, LOCK: lock}
    assert mirror.has(first)
    assert mirror.has(second)
    assert not mirror.has(lock)


def test_what_is_missing_can_be_brought(mirror: Mirror, origin: History) -> None:
    lock = origin.commit({"lock.json": b"{}"})
    origin.point(LOCK, lock)

    mirror.ensure([lock])
    mirror.ensure([lock])

    assert mirror.has(lock)


def test_only_a_commit_is_held_as_one(mirror: Mirror, origin: History) -> None:
    commit = origin.commit({"a": b"1"})
    origin.point(MAIN, commit)
    mirror.look()
    tree = origin.at(commit).tree

    assert mirror.has(commit)
    assert not mirror.has(str(tree.id))
    assert not mirror.has(str(tree["a"].id))
    assert not mirror.has("0" * 40)


def test_the_default_branch_is_the_remotes(mirror: Mirror, origin: History) -> None:
    origin.point("refs/heads/trunk", origin.commit({"a": b"1"}))
    origin.repo.set_head("refs/heads/trunk")

    mirror.look()

    assert mirror.default_branch == "trunk"


def test_moved_and_deleted_branches_are_seen(mirror: Mirror, origin: History) -> None:
    origin.point(MAIN, origin.commit({"a": b"1"}))
    origin.point(WORK, origin.commit({"b": b"1"}))
    mirror.look()
    moved = origin.commit({"a": b"2"})
    origin.point(MAIN, moved)
    origin.repo.references.delete(WORK)

    mirror.look()

    assert mirror.refs == {MAIN: moved}
    assert mirror.has(moved)


# --- pushing --------------------------------------------------------------------------


def test_events_and_refs_arrive_together(mirror: Mirror, origin: History) -> None:
    work = origin.commit({"a": b"1"})
    origin.point(MAIN, work)
    mirror.look()

    mirror.push(story(), move(mirror, WORK, work), actor=ACTOR)

    assert read(origin).convoys == mirror.state.convoys
    assert mirror.state.convoys[NAME].state == "active"
    assert str(origin.repo.references[WORK].target) == work
    assert mirror.refs == {MAIN: work, WORK: work, WAL_REF: mirror.head}


def test_only_the_new_tail_is_read(mirror: Mirror, opened: Open) -> None:
    other = opened("other")
    mirror.look()
    write(mirror, *story())
    other.look()

    write(mirror, *paused(mirror))
    other.look()
    other.look()

    assert other.state == mirror.state
    assert other.state.convoys[NAME].state == "paused"


def test_refs_may_move_without_a_word_in_the_log(
    mirror: Mirror, origin: History
) -> None:
    work = origin.commit({"a": b"1"})
    origin.point(MAIN, work)
    mirror.look()

    mirror.push((), move(mirror, WORK, work), actor=ACTOR)
    mirror.push((), move(mirror, WORK, None), actor=ACTOR)

    assert mirror.refs == {MAIN: work}
    assert [*origin.repo.references] == [MAIN]


def test_a_mirror_is_a_cache(mirror: Mirror, opened: Open) -> None:
    mirror.look()
    write(mirror, *story())
    shutil.rmtree(mirror.path)
    again = opened("mirror")

    again.look()

    assert again.state == mirror.state


# --- races ----------------------------------------------------------------------------


def test_of_two_bots_that_write_at_once_one_must_look_again(
    mirror: Mirror, opened: Open, origin: History
) -> None:
    other = opened("other")
    mirror.look()
    write(mirror, *story())
    other.look()
    before = other.state

    write(mirror, *paused(mirror))
    with pytest.raises(Conflict, match=WAL_REF):
        write(other, *paused(other, "bea"))

    assert other.state == before
    assert other.refs[WAL_REF] == before.moment.commit
    other.look()
    assert other.state == mirror.state
    write(other, *resumed(other))
    assert read(origin) == other.state


def test_of_two_first_bots_one_begins_the_log(mirror: Mirror, opened: Open) -> None:
    other = opened("other")
    mirror.look()
    other.look()
    write(mirror, *story())

    with pytest.raises(Conflict):
        write(other, *story()[:2])

    other.look()
    assert other.state == mirror.state


def test_a_branch_that_somebody_moved_keeps_the_whole_push_out(
    mirror: Mirror, origin: History
) -> None:
    first, second = origin.commit({"a": b"1"}), origin.commit({"a": b"2"})
    origin.point(MAIN, first)
    origin.point("refs/heads/second", second)
    mirror.look()
    origin.point(MAIN, second)
    updates = move(mirror, MAIN, second) | move(mirror, WORK, first)
    origin.point(MAIN, origin.commit({"a": b"3"}))

    with pytest.raises(Conflict, match=MAIN):
        mirror.push(story(), updates, actor=ACTOR)

    assert {*origin.repo.references} == {MAIN, "refs/heads/second"}
    assert (mirror.head, mirror.state) == (None, State())
    assert mirror.refs[MAIN] == first


def test_a_push_that_had_arrived_is_seen_and_read_once(
    mirror: Mirror, opened: Open
) -> None:
    mirror.look()
    events = story()
    arrived = mirror.log.write(events, parent=None, actor=ACTOR, at_ms=events[-1].ts)
    mirror.remote.push((RefUpdate(WAL_REF, arrived, None),))

    write(mirror, *events)
    mirror.look()

    assert mirror.head == arrived
    assert mirror.state.convoys[NAME].state == "active"
