"""The bot's clone: looking, pushing, and never believing what was not pushed."""

import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from bot.repository.draft import Draft
from bot.repository.mirror import Mirror, collect_mirror, has_grown, on_disk
from bot.roles.deacon import sweep_branches
from convoy.log import record as states
from convoy.log.record import Reading
from convoy.model import ids
from convoy.model.state import Moment, State
from convoy.owed import Sweep
from grite import checkpoint, git
from grite.errors import Conflict, Corrupt, Rewritten, Unavailable
from grite.event import CommentAdded, Event
from grite.remote import RefUpdate
from grite.wal import WAL_REF, Log
from tests.bot.history import History
from tests.bot.logs import Open, paused, read, resumed, story, write
from tests.bot.there import there
from tests.grite.commits import commit, said
from tests.world.forge_rules import put_hook
from tests.world.log_keys import LOG_KEY, open_mirror, signed_commit
from tests.world.patience import patient
from tests.world.remotes import Address
from tests.world.rules import ACTOR, NAME, Rules, sha, spec

MAIN = "refs/heads/main"
WORK = "refs/heads/convoy/fix-7/task-1"


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
    moves = ((MAIN, second), (WORK, first))
    updates = {ref: RefUpdate(ref, to, mirror.refs.get(ref)) for ref, to in moves}
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
@pytest.mark.parametrize("place", ["missing", "rewound", "blob", "tree", "foreign"])
def test_a_deleted_rewound_or_replaced_log_is_put_back(
    place: str, read_twice: Mirror, origin: History, opened: Open, *, starts_anew: bool
) -> None:
    head = there(read_twice.head)
    (before,) = origin.at(head).parent_ids
    theirs = origin.commit({"a": b"1"})
    tree = origin.at(theirs).tree
    held = {"blob": tree["a"].id, "tree": tree.id, "foreign": theirs, "rewound": before}
    change = [WAL_REF, str(held[place])] if place in held else ["-d", WAL_REF]
    git.run(["update-ref", *change], cwd=origin.path)
    bot = opened("mirror") if starts_anew else read_twice
    if place == "tree":
        says = f"refs/grite/wal does not contain a log [(]{tree.id} is not"
        with pytest.raises(Corrupt, match=says):
            opened("new").look()

    bot.look()

    assert Log(origin.path).head() == bot.head == bot.refs[WAL_REF] == head
    assert bot.state == read_twice.state
    (said,) = bot.notices
    words = {
        "missing": f"refs/grite/wal was missing. brat restored it to {head}",
        "rewound": f"was at {before}, not at a descendant of {head}. brat restored it",
    }
    assert words.get(place, "brat restored it") in said
    assert f"delete {read_twice.path}" in said
    write(bot, *resumed(bot))
    assert read(origin) == bot.state


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


# --- a new clone begins at a checkpoint that is of use, and costs what came after it --

LANDING = pytest.mark.layer("landing")
NOW = 1_700_000_000_000


def begun(mirror: Mirror, pauses: int = 3) -> Mirror:
    """Let a bot log a convoy that is paused and resumed again and again."""
    mirror.look()
    write(mirror, *story())
    for _ in range(pauses):
        write(mirror, *paused(mirror))
        write(mirror, *resumed(mirror))
    return mirror


def mark(mirror: Mirror, now: int = NOW) -> str:
    """Push a checkpoint and return its commit."""
    updates = mirror.checkpoint(now)
    mirror.push((), {update.ref: update for update in updates}, actor=bytes(16))
    return str(updates[0].new)


@LANDING
def test_a_clone_without_history_can_push_and_read_on(
    tmp_path: Path, address: Address
) -> None:
    def opened(name: str) -> Mirror:
        return open_mirror(tmp_path / f"{name}.git", address.url, address.token)

    mirror = begun(opened("mirror"))
    mark(mirror)
    other = opened("other")
    other.look()

    write(other, *paused(other))
    mirror.look()
    write(mirror, *resumed(mirror))
    other.look()
    again = opened("other")
    again.look()

    assert mirror.state == other.state == again.state
    assert other.state.convoys[NAME].state == "active"
    assert Log(address.bare).entries(address.refs()[WAL_REF])[-1].faults == ()
    said(address.bare, "fsck", "--strict", "--no-dangling")


def rubbish(mirror: Mirror) -> str:
    return checkpoint.write(mirror.objects, b"{", str(mirror.head), NOW, mirror.writer)


def foreign(mirror: Mirror) -> str:
    return commit(mirror.path, {"README.md": b"hello"})


def of_another_commit(mirror: Mirror) -> str:
    data = states.encode_reading(Reading(State(moment=Moment("1" * 40, 7))))
    return checkpoint.write(mirror.objects, data, str(mirror.head), NOW, mirror.writer)


FAULTS = {
    rubbish: "state cannot be read",
    foreign: "it is not signed",
    of_another_commit: "its state belongs to 1111",
}


@LANDING
@pytest.mark.parametrize("with_an_older_one", [False, True])
@pytest.mark.parametrize(("bad", "fault"), FAULTS.items())
def test_one_that_is_of_no_use_is_named_and_the_next_is_taken(
    bad: Callable[[Mirror], str],
    fault: str,
    *,
    with_an_older_one: bool,
    mirror: Mirror,
    origin: History,
    opened: Open,
) -> None:
    begun(mirror)
    if with_an_older_one:
        mark(mirror, NOW - 1)
    ref = checkpoint.ref_of(NOW)
    said(mirror.path, "push", "-q", origin.path.as_uri(), f"{bad(mirror)}:{ref}")
    write(mirror, *paused(mirror))
    other = opened("other")

    other.look()

    assert other.state == mirror.state
    (notice,) = other.notices
    assert notice.startswith(f"{ref} cannot be used, so brat reads the log instead")
    assert fault in notice
    assert (other.reading.events < 10) == with_an_older_one
    write(other, *resumed(other))
    mirror.look()
    assert other.state == mirror.state


@LANDING
def test_a_deleted_mirror_cannot_put_back_what_it_no_longer_has(
    mirror: Mirror, origin: History
) -> None:
    begun(mirror)
    said(origin.path, "update-ref", "-d", WAL_REF)
    git.run(["prune", "--expire=now"], cwd=origin.path)
    shutil.rmtree(mirror.path)

    with pytest.raises(Rewritten, match=r"the log is gone.*cannot be restored"):
        mirror.look()


# --- what was acknowledged is there, once, whatever breaks while it is written --------


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Give a folder on a disk of its own that can be filled; only root makes one."""
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(path)]
    try:
        subprocess.run(mount, check=True, timeout=patient(20))
    except (subprocess.CalledProcessError, FileNotFoundError):
        pytest.skip("a disk can only be mounted by root")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True, timeout=patient(20))


@LANDING
def test_a_full_disk_loses_nothing(disk: Path, origin: History, opened: Open) -> None:
    mirror = begun(open_mirror(disk / "mirror.git", origin.path.as_uri(), None))
    other, before = opened("other"), mirror.state
    other.look()
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x" * 4096)

    with pytest.raises(Unavailable, match=r"cannot be written|no space"):
        write(mirror, *paused(mirror))
    assert read(origin) == before
    write(other, *paused(other))
    with pytest.raises(Unavailable, match=r"cannot be written|no space"):
        mirror.look()
    assert mirror.state == before

    filler.unlink()
    mirror.look()
    assert mirror.state == other.state
    write(mirror, *resumed(mirror))
    assert read(origin) == mirror.state


@LANDING
def test_a_mirror_that_is_deleted_between_look_and_push_is_made_again(
    tmp_path: Path, address: Address
) -> None:
    def opened(name: str) -> Mirror:
        return open_mirror(tmp_path / f"{name}.git", address.url, address.token)

    mirror, other = begun(opened("mirror")), opened("other")
    before, events = mirror.state, paused(mirror)
    shutil.rmtree(mirror.path)

    with pytest.raises(Unavailable):
        write(mirror, *events)

    other.look()
    assert other.state == before
    mirror.look()
    write(mirror, *paused(mirror))
    other.look()
    assert other.state == mirror.state


@LANDING
def test_a_fetch_that_was_killed_halfway_is_done_again(
    mirror: Mirror, opened: Open
) -> None:
    begun(mirror)
    other = opened("other")
    for each in said(mirror.path, "rev-list", str(mirror.head)).split():
        data = said(mirror.path, "cat-file", "commit", each).encode()
        args = ("hash-object", "--literally", "-t", "commit", "-w", "--stdin")
        assert said(other.path, *args, stdin=data) == each

    other.look()

    assert (other.state, other.faults) == (mirror.state, ())


@LANDING
def test_a_claim_of_another_century_does_not_date_the_log(mirror: Mirror) -> None:
    def dated() -> str:
        return said(mirror.path, "show", "-s", "--format=%ct", str(mirror.head))

    begun(mirror)
    before = dated()
    claim = Event(bytes(16), bytes(16), 2**62, CommentAdded("I come from far"))

    write(mirror, *paused(mirror), claim)

    assert dated() == before


# --- what a draft keeps for good ------------------------------------------------------

FIRST, SECOND = "1" * 40, "2" * 40
REF = ids.attempt_ref("fix-7", 1, 2)


def test_a_second_commit_of_an_attempt_stands_beside_the_first(mirror: Mirror) -> None:
    made = Draft(mirror, ACTOR, 1_000)
    made.keep("fix-7", 1, 2, FIRST)
    made.keep("fix-7", 1, 2, SECOND)
    made.keep("fix-7", 1, 2, FIRST)

    assert made.refs == {REF: FIRST, f"{REF}-{SECOND[:12]}": SECOND}


def test_a_candidate_that_comes_back_in_the_same_push_stays(mirror: Mirror) -> None:
    rules = Rules().planned(spec(1)).started(1).accepted(1, FIRST, "a.py")
    rules.offered(1, SECOND, sha("0"))
    again, stale = (
        ids.HEADS + ids.queue_branch(ids.base_branch(NAME), commit)
        for commit in (SECOND, FIRST)
    )
    made = Draft(mirror, ACTOR, 1_000)
    made.state = rules.state
    made.move(again, SECOND)
    made.move(stale, FIRST)
    sweep_branches(made, Sweep(((again, SECOND), (stale, FIRST))))

    assert made.refs == {again: SECOND}


# --- what anybody pushed and took back again does not stay for ever -------------------

JUNK = 3_000_000


@pytest.fixture
def littered(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a mirror with one commit, and megabytes that no ref leads to any more."""
    monkeypatch.setattr("bot.repository.mirror.FLOOR_BYTES", 1_000_000)
    history = History(mirror.path)
    history.point("refs/seen/heads/main", history.commit({"a.txt": b"1\n"}))
    litter(mirror.path, hours=2)
    return mirror.path


def litter(mirror: Path, hours: int) -> None:
    noise = random.Random(hours).randbytes(JUNK)  # noqa: S311  the same each time
    name = str(History(mirror).repo.create_blob(noise))
    file = mirror / "objects" / name[:2] / name[2:]
    then = file.stat().st_mtime - hours * 3_600
    os.utime(file, (then, then))


def test_what_nothing_leads_to_is_removed_and_the_rest_stays(littered: Path) -> None:
    before, history = on_disk(littered), History(littered)
    history.point("refs/intake/fix-1/2/1", history.commit({"b.txt": b"2\n"}))

    collect_mirror(littered)

    assert said(littered, "for-each-ref", "refs/intake/") == ""
    assert before > JUNK
    assert on_disk(littered) < 1_000_000
    assert said(littered, "cat-file", "-p", "refs/seen/heads/main:a.txt") == "1"
    said(littered, "fsck", "--strict", "--connectivity-only")


def test_a_large_mirror_is_collected_once_and_again_when_it_has_doubled(
    littered: Path,
) -> None:
    litter(littered, hours=0)
    collect_mirror(littered)
    assert JUNK < on_disk(littered) < 2 * JUNK, "what was just written stays"
    assert not has_grown(littered)

    litter(littered, hours=-1)
    litter(littered, hours=-2)

    assert has_grown(littered)


def test_a_mirror_that_cannot_be_collected_is_said_and_used(
    littered: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (littered / "refs/seen/broken").write_text("a1" * 20 + "\n")

    collect_mirror(littered)

    assert "git gc failed in" in caplog.text
    assert on_disk(littered) > JUNK
