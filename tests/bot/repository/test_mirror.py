"""The bot's clone: looking, pushing, and never believing what was not pushed."""

import shutil

import pytest

from bot.repository.mirror import Mirror
from convoy.model.state import State
from grite import git
from grite.errors import Conflict, Corrupt, Rewritten
from grite.event import CommentAdded, Event
from grite.remote import RefUpdate
from grite.wal import WAL_REF, Log
from tests.bot.history import History
from tests.bot.logs import Open, paused, read, resumed, story, write
from tests.bot.there import there
from tests.world.cases import looped
from tests.world.forge_rules import put_hook
from tests.world.log_keys import LOG_KEY, signed_commit
from tests.world.rules import ACTOR, NAME

MAIN = "refs/heads/main"
WORK = "refs/heads/convoy/fix-7/task-1"


def move(mirror: Mirror, ref: str, new: str | None) -> dict[str, RefUpdate]:
    return {ref: RefUpdate(ref, new, mirror.refs.get(ref))}


def test_a_mirror_is_a_cache(mirror: Mirror, opened: Open) -> None:
    mirror.look()
    write(mirror, *story())
    shutil.rmtree(mirror.path)
    again = opened("mirror")

    again.look()

    assert again.state == mirror.state


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


# --- a log that is not as it was ------------------------------------------------------


@pytest.fixture
def read_twice(mirror: Mirror) -> Mirror:
    """Give a mirror that knows two commits of the log."""
    mirror.look()
    write(mirror, *story())
    write(mirror, *paused(mirror))
    return mirror


@pytest.mark.parametrize("starts_anew", [False, True])
def test_a_deleted_log_is_put_back(
    read_twice: Mirror, origin: History, opened: Open, *, starts_anew: bool
) -> None:
    head = read_twice.head
    origin.repo.references.delete(WAL_REF)
    bot = opened("mirror") if starts_anew else read_twice

    bot.look()

    assert Log(origin.path).head() == bot.head == bot.refs[WAL_REF] == head
    assert bot.state == read_twice.state
    (said,) = bot.notices
    assert f"refs/grite/wal was missing. brat restored it to {head}" in said
    assert f"delete {read_twice.path}" in said


def test_a_rewound_log_is_put_back(read_twice: Mirror, origin: History) -> None:
    head = there(read_twice.head)
    (before,) = origin.at(head).parent_ids
    origin.point(WAL_REF, str(before))

    read_twice.look()

    assert Log(origin.path).head() == read_twice.head == head
    (said,) = read_twice.notices
    assert f"was at {before}, not at a descendant of {head}. brat restored it" in said
    write(read_twice, *resumed(read_twice))
    assert read(origin) == read_twice.state


def test_what_only_the_log_in_its_place_held_is_kept_and_changes_nothing(
    read_twice: Mirror, origin: History, opened: Open
) -> None:
    head, state = read_twice.head, read_twice.state
    log = Log(origin.path)
    words = Event(bytes(16), bytes(16), 7, CommentAdded("hello"))
    theirs = resumed(read_twice)
    events = (*story(), *theirs, words)
    other = log.write(events, parent=None, actor=ACTOR, at_ms=1)
    origin.point(WAL_REF, other)

    read_twice.look()

    new = log.entries(log.head() or "", since=head)
    assert [event for entry in new for event in entry.events] == [*theirs, words]
    assert read_twice.state.convoys == state.convoys
    assert f"was at {other}" in read_twice.notices[0]
    fresh = opened("fresh")
    fresh.look()
    assert fresh.state == read_twice.state


@looped("blob", "tree", "foreign")
def test_rubbish_in_the_logs_place_is_replaced(
    what: str, read_twice: Mirror, origin: History
) -> None:
    head = read_twice.head
    commit = origin.commit({"a": b"1"})
    tree = origin.at(commit).tree
    oid = {"blob": tree["a"].id, "tree": tree.id, "foreign": commit}[what]
    git.run(["update-ref", WAL_REF, str(oid)], cwd=origin.path)

    read_twice.look()

    assert Log(origin.path).head() == read_twice.head == head


def test_a_new_bot_says_that_rubbish_is_no_log(mirror: Mirror, origin: History) -> None:
    tree = origin.at(origin.commit({"a": b"1"})).tree
    git.run(["update-ref", WAL_REF, str(tree.id)], cwd=origin.path)

    with pytest.raises(
        Corrupt, match=f"refs/grite/wal does not contain a log [(]{tree.id} is not"
    ):
        mirror.look()


def test_a_log_that_may_not_be_put_back_is_refused(
    read_twice: Mirror, origin: History
) -> None:
    head = read_twice.head
    log = Log(origin.path)
    other = log.write(story(), parent=None, actor=ACTOR, at_ms=1)
    origin.point(WAL_REF, other)
    put_hook(origin.path, "pre-receive", "exit 1")

    for _ in range(2):
        with pytest.raises(Rewritten, match=r"cannot be restored.*declined") as refused:
            read_twice.look()
        assert f"head {other} does not descend from {head}" in str(refused.value)

    assert read_twice.state.convoys[NAME].state == "paused"
    assert log.head() == other


def test_what_cannot_be_read_is_named_and_the_rest_counts(
    read_twice: Mirror, origin: History, opened: Open
) -> None:
    head = there(read_twice.head)
    files = {"events": b"no folder"}
    odd = signed_commit(origin.path, files, head, LOG_KEY.writer())
    origin.point(WAL_REF, odd)

    read_twice.look()

    assert read_twice.faults
    assert all(fault.startswith(f"{odd}: ") for fault in read_twice.faults)
    assert read_twice.state.convoys[NAME].state == "paused"
    write(read_twice, *resumed(read_twice))
    other = opened("other")
    other.look()
    assert (other.state, other.faults) == (read_twice.state, read_twice.faults)
