"""Clones that logged apart meet: nothing is lost, nothing is there twice."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings, strategies as st

from grite import sync
from grite.errors import Corrupt
from grite.event import CommentAdded, Event
from grite.remote import Remote, ensure_mirror
from grite.wal import WAL_REF, Log
from tests.grite.commits import commit, said
from tests.grite.cut import Died, dying
from tests.grite.vectors import ACTOR, ISSUE, T0


@dataclass
class Replica:
    """A clone that logs by itself, and knows what it was promised to keep."""

    number: int
    path: Path
    url: str
    promised: list[Event] = field(default_factory=list)

    @property
    def log(self) -> Log:
        return Log(self.path)  # opened anew, as a new process would

    @property
    def actor(self) -> bytes:
        return bytes([self.number]) * 16

    def append(self, many: int = 1) -> None:
        log = self.log
        start = len(self.promised)
        new = [
            Event(ISSUE, self.actor, T0 + start + k, CommentAdded(f"{start + k}"))
            for k in range(many)
        ]
        log.append(new, after=log.head(), actor=self.actor, at_ms=T0 + start)
        self.promised += new

    def sync(self) -> str | None:
        remote = Remote(self.url, self.path)
        return sync.sync(self.log, remote, actor=self.actor, at_ms=T0)

    def events(self) -> list[Event]:
        log = self.log
        head = log.head()
        read = log.entries(head) if head else []
        assert not any(entry.faults for entry in read)
        return [event for entry in read for event in entry.events]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "bare.git"
    ensure_mirror(path)
    return path


def replicas(template: Path, folder: Path, many: int) -> list[Replica]:
    """Return clones of one empty remote."""
    origin = folder / "origin.git"
    shutil.copytree(template, origin)
    made = []
    for number in range(many):
        path = folder / f"{number}.git"
        shutil.copytree(template, path)
        made.append(Replica(number, path, origin.as_uri()))
    return made


@pytest.fixture
def two(template: Path, tmp_path: Path) -> list[Replica]:
    return replicas(template, tmp_path, 2)


def assert_all_hold_all(clones: Sequence[Replica]) -> None:
    """Hold that everybody has every promised event once, each clone's in its order."""
    promised = [event.id for clone in clones for event in clone.promised]
    origin = Log(Path(clones[0].url.removeprefix("file://")))
    head = origin.head()
    for clone in clones:
        assert clone.log.head() == head
        held = clone.events()
        assert sorted(event.id for event in held) == sorted(promised)
        mine = [event for event in held if event.actor == clone.actor]
        assert mine == clone.promised
    if head:
        said(Path(clones[0].path), "fsck", "--strict", "--no-dangling", head)


# --- the ordinary ways ----------------------------------------------------------------


def test_two_clones_that_logged_apart_hold_the_same_after_they_met(
    two: list[Replica],
) -> None:
    one, other = two
    one.append(2)
    one.sync()
    other.append()
    other.append()
    one.append()
    one.sync()

    other.sync()
    one.sync()

    assert_all_hold_all(two)
    # What was apart came over as one chunk.
    assert [len(e.events) for e in one.log.entries(one.log.head() or "")] == [2, 1, 2]


def test_meeting_with_nothing_to_say_changes_nothing(two: list[Replica]) -> None:
    one, other = two
    assert one.sync() is None
    one.append()

    head = one.sync()

    assert [one.sync(), other.sync(), other.sync()] == [head] * 3


def test_who_is_ahead_is_followed_without_a_new_commit(two: list[Replica]) -> None:
    one, other = two
    one.append()
    one.sync()
    other.sync()
    one.append()
    head = one.log.head()

    one.sync()
    other.sync()

    assert other.log.head() == head


def test_an_event_that_both_have_is_there_once(two: list[Replica]) -> None:
    one, other = two
    one.append()
    log = other.log
    shared = [*one.promised, *one.promised]
    log.append(shared, after=None, actor=other.actor, at_ms=T0)
    one.sync()

    other.sync()

    assert_all_hold_all(two)


def test_events_keep_their_writer_and_their_time(two: list[Replica]) -> None:
    one, other = two
    one.append()
    other.append()
    one.sync()

    other.sync()

    entry = other.log.entries(other.log.head() or "")[-1]
    assert entry.actor == other.actor
    assert entry.events == tuple(other.promised)


def test_rubbish_on_the_remote_is_not_written_over(
    two: list[Replica], tmp_path: Path
) -> None:
    one, _ = two
    origin = tmp_path / "origin.git"
    blob = said(origin, "hash-object", "-w", "--stdin", stdin=b"x")
    said(origin, "update-ref", WAL_REF, blob)
    one.append()

    with pytest.raises(Corrupt, match=f"{blob} is no commit"):
        one.sync()

    assert one.events() == one.promised


def test_a_foreign_commit_on_the_remote_is_kept(
    two: list[Replica], tmp_path: Path
) -> None:
    one, _ = two
    origin = tmp_path / "origin.git"
    foreign = commit(origin, {"README.md": b"hello"})
    said(origin, "update-ref", WAL_REF, foreign)
    one.append()

    head = one.sync()

    first, second = one.log.entries(head or "")
    assert first.commit == foreign
    assert second.events == tuple(one.promised)


def test_a_commit_without_its_files_is_brought_again(two: list[Replica]) -> None:
    """A fetch that was killed leaves such."""
    one, other = two
    one.append()
    head = one.sync()
    data = said(one.path, "cat-file", "commit", head or "").encode()
    args = ("hash-object", "--literally", "-t", "commit", "-w", "--stdin")
    assert said(other.path, *args, stdin=data) == head

    other.sync()

    assert_all_hold_all(two)


def test_one_event_that_was_read_back_is_not_missing(log: Log) -> None:
    event = Event(ISSUE, ACTOR, T0, CommentAdded("a"))
    head = log.append([event], after=None, actor=ACTOR, at_ms=T0)

    assert sync.missing(log, head, head) == ()
    assert sync.missing(log, head, None) == (event,)


# --- any way --------------------------------------------------------------------------

CLONES = 3
EXAMPLES = 40 if os.environ.get("BRAT_STRICT") == "1" else 12
which = st.integers(0, CLONES - 1)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("append"), which, st.integers(1, 3)),
        st.tuples(st.just("sync"), which, st.none()),
        st.tuples(st.just("die"), which, st.integers(0, 13)),
    ),
    max_size=14,
)


@pytest.mark.timeout(300)
@settings(deadline=None, max_examples=EXAMPLES)
@given(steps)
def test_any_order_of_appends_meetings_and_deaths_ends_with_the_same(
    template: Path, story: list[tuple[str, int, int | None]]
) -> None:
    with TemporaryDirectory() as folder:
        clones = replicas(template, Path(folder), CLONES)
        for what, number, amount in story:
            clone = clones[number]
            match what:
                case "append":
                    clone.append(amount or 1)
                case "sync":
                    clone.sync()
                case _:
                    die_in_sync(clone, amount or 0)

        for clone in (*clones, *clones):
            clone.sync()

        assert_all_hold_all(clones)


def die_in_sync(clone: Replica, moment: int) -> None:
    """Let the clone's process die at a step of a meeting, if there are as many."""

    def die() -> None:
        raise Died

    try:
        with dying(moment, die):
            clone.sync()
    except Died:
        pass
