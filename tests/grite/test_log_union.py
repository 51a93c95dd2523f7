"""Clones that logged apart meet: nothing is lost, nothing is there twice."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings, strategies as st

from grite.event import CommentAdded, Event
from grite.remote import RefUpdate, Remote, ensure_mirror
from grite.wal import WAL_REF, Log, log_union
from tests.grite.commits import said
from tests.grite.vectors import ISSUE, T0
from tests.world.local_log import appended, set_head


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
        appended(log, new, after=log.head(), actor=self.actor, at_ms=T0 + start)
        self.promised += new

    def meet(self) -> None:
        """Put what only this clone has after the remote's chain, and follow that."""
        log, remote = self.log, Remote(self.url, self.path)
        ours, theirs = log.head(), remote.refs([WAL_REF]).get(WAL_REF)
        if theirs is not None:
            remote.fetch([f"+{WAL_REF}:refs/seen/grite/wal"])
        head = theirs
        if ours is not None:
            head = log_union(log, ours, theirs, actor=self.actor, at_ms=T0)
        if head is not None and head not in (ours, theirs):
            (apart,) = log.entries(head, since=theirs)  # came over as one chunk
            assert apart.actor == self.actor
        if head is not None and head != theirs:
            remote.push([RefUpdate(WAL_REF, head, theirs)])
        if head is not None and head != ours:
            set_head(log, head, ours)

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


CLONES = 3
APART = (
    *(("append", 0, 2), ("meet", 0, None), ("append", 1, 1), ("append", 1, 1)),
    *(("append", 0, 1), ("meet", 0, None)),
)
which = st.integers(0, CLONES - 1)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("append"), which, st.integers(1, 3)),
        st.tuples(st.just("meet"), which, st.none()),
    ),
    max_size=14,
)


@pytest.mark.timeout(300)
@settings(deadline=None, max_examples=12)
@example([*APART])
@given(steps)
def test_any_order_of_appends_and_meetings_ends_with_the_same(
    template: Path, story: list[tuple[str, int, int | None]]
) -> None:
    with TemporaryDirectory() as folder:
        origin, *paths = (Path(folder, f"{n}.git") for n in range(CLONES + 1))
        for path in (origin, *paths):
            shutil.copytree(template, path)
        clones = [Replica(n, path, origin.as_uri()) for n, path in enumerate(paths)]
        for what, number, amount in story:
            clone = clones[number]
            if what == "append":
                clone.append(amount or 1)
            else:
                clone.meet()

        for clone in (*clones, *clones):
            clone.meet()

        assert_all_hold_all(clones)
