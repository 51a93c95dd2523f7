"""What is only a cache or a stale lock is put right; what is history stays."""

from pathlib import Path

import pygit2
import pytest

from brat.doctor.checkup import GRACE_MS, repair
from brat.repository.log_reader import CACHE, WORTH, Reader, verify
from grite import checkpoint, lease
from grite.lease import Lock
from grite.wal import WAL_REF
from tests.brat.telling import NOW, Telling
from tests.grite.commits import commit, said
from tests.world.rules import ACTOR


@pytest.fixture
def told(tmp_path: Path) -> Telling:
    telling = Telling(tmp_path / "log.git")
    telling.tell(words=WORTH)
    return telling


def refs(told: Telling) -> set[str]:
    return set(pygit2.Repository(str(told.path)).listall_references())


def locked(told: Telling, resource: str, expires_ms: int) -> str:
    repo = pygit2.Repository(str(told.path))
    lock = Lock(ACTOR, "n", expires_ms, resource)
    made = lease.write(repo, lock, parent=None, at_ms=NOW)
    said(told.path, "update-ref", lease.ref_of(resource), made)
    return lease.ref_of(resource)


def test_a_checkpoint_that_is_of_no_use_is_removed(told: Telling) -> None:
    good, bad = told.mark(), checkpoint.ref_of(NOW + 1)
    said(told.path, "update-ref", bad, commit(told.path, {"a": b"1"}))

    (done,) = repair(told.path, NOW)

    assert done.startswith(f"removed {bad}: it cannot be used: ")
    assert refs(told) == {WAL_REF, good}
    assert verify(told.path) == ()
    assert repair(told.path, NOW) == ()


def test_beside_a_log_that_is_gone_checkpoints_stay(told: Telling) -> None:
    mark = told.mark()
    said(told.path, "update-ref", "-d", WAL_REF)

    assert repair(told.path, NOW) == ()

    assert refs(told) == {mark}


def test_stale_and_broken_locks_are_swept(told: Telling) -> None:
    ran_out = locked(told, "path:a", NOW - GRACE_MS)
    broken = lease.ref_of("path:b")
    said(told.path, "update-ref", broken, commit(told.path, {"a": b"1"}))
    held = locked(told, "path:c", NOW - GRACE_MS + 1)

    done = repair(told.path, NOW)

    assert {line.split()[1] for line in done} == {f"{ran_out}:", f"{broken}:"}
    assert refs(told) == {WAL_REF, held}
    assert repair(told.path, NOW) == ()


def test_what_was_kept_and_cannot_be_used_is_made_again(told: Telling) -> None:
    state = Reader(told.path).read()
    file = told.path / CACHE / "state.json"
    file.write_bytes(file.read_bytes()[:40])

    (done,) = repair(told.path, NOW)

    assert done.startswith("the log was read again in full: ")
    reader = Reader(told.path)
    assert (reader.read(), reader.notices) == (state, ())
    assert repair(told.path, NOW) == ()
