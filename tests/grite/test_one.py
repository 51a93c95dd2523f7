"""One entry read with the git program alone."""

from pathlib import Path

import pytest

from grite import chunk
from grite.chunk import read_commit
from grite.errors import Corrupt, GitFailed
from grite.event import CommentAdded, Event
from grite.remote import RefUpdate, Remote, ensure_mirror
from grite.wal import WAL_REF, Log
from tests.grite.commits import commit, lose, said
from tests.grite.vectors import ACTOR, ISSUE, T0, vector
from tests.world.cases import looped
from tests.world.local_log import appended

SOME = [vector(number)[0] for number in range(1, 15)]


def test_it_reads_what_the_log_wrote(mirror: Path) -> None:
    log = Log(mirror)
    first = appended(log, SOME[:1], after=None, actor=ACTOR, at_ms=T0)
    head = appended(log, SOME, after=first, actor=ACTOR, at_ms=T0)

    assert read_commit(mirror, first) == (SOME[0],)
    assert read_commit(mirror, head) == tuple(SOME)
    large = [Event(ISSUE, ACTOR, T0, CommentAdded("\n blob 7\n" * 100_000))]
    written = log.write(large, parent=None, actor=ACTOR, at_ms=T0)
    assert read_commit(mirror, written) == tuple(large)


def test_a_single_commit_without_its_history_is_enough(
    remote: Remote, mirror: Path, tmp_path: Path
) -> None:
    log = Log(mirror)
    first = appended(log, SOME[:1], after=None, actor=ACTOR, at_ms=T0)
    head = appended(log, SOME, after=first, actor=ACTOR, at_ms=T0)
    remote.push([RefUpdate(WAL_REF, head, None)])
    box = tmp_path / "box.git"
    ensure_mirror(box)

    Remote(remote.url, box).fetch([head], depth=1)

    assert read_commit(box, head) == tuple(SOME)
    with pytest.raises(GitFailed):
        read_commit(box, first)


GOOD = chunk.encode(SOME[:1])
WRONG_ID = GOOD.replace(SOME[0].id, bytes(32))


@looped(
    ({"README.md": b"hello"}, "contains no chunk"),
    ({"events/x/00.bin": GOOD}, "should be named"),
    ({f"events/{chunk.file_name(WRONG_ID)}": WRONG_ID}, "does not verify"),
    ({f"events/{chunk.file_name(b'')}": b""}, "GRITECNK"),
)
def test_half_an_entry_is_none(files: dict[str, bytes], why: str, mirror: Path) -> None:
    with pytest.raises(Corrupt, match=why):
        read_commit(mirror, commit(mirror, files))


def test_a_lost_chunk_is_corrupt(mirror: Path) -> None:
    written = Log(mirror).write(SOME, parent=None, actor=ACTOR, at_ms=T0)
    path = said(mirror, "ls-tree", "-r", "--name-only", written).splitlines()[0]
    lose(mirror, said(mirror, "rev-parse", f"{written}:{path}"))

    with pytest.raises(Corrupt, match="is missing"):
        read_commit(mirror, written)


@looped("HEAD", "--help", "1" * 39, "")
def test_only_a_full_id_names_a_commit(name: str, mirror: Path) -> None:
    with pytest.raises(ValueError, match="full ID"):
        read_commit(mirror, name)
