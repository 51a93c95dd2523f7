"""What is wrong in a log is named, and the rest is read."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from grite import chunk
from grite.chunk import read_commit
from grite.entry import Entry
from grite.errors import Corrupt, GitFailed, Missing
from grite.remote import RefUpdate, Remote, ensure_mirror
from grite.wal import WAL_REF, Log
from tests.grite.commits import commit, lose, said
from tests.grite.vectors import ACTOR, T0, vector
from tests.grite.writing import append, comment
from tests.world.cases import looped
from tests.world.local_log import appended, set_head


def by_hand(meta: object, data: bytes, name: str | None = None) -> dict[str, bytes]:
    name = name or chunk.file_name(data)
    return {"meta.json": json.dumps(meta).encode(), f"events/2023/11/14/{name}": data}


def meta_for(data: bytes, **other: object) -> dict[str, object]:
    return {
        "schema_version": 1,
        "actor_id": ACTOR.hex(),
        "chunk_hash": chunk.chunk_hash(data).hex(),
        "prev_wal": None,
    } | other


GOOD = chunk.encode([comment("good")])
WRONG_ID = GOOD.replace(comment("good").id, bytes(32))
NEWER = GOOD.replace(b"GRITECNK\x01", b"GRITECNK\x02")


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({"README.md": b"hello"}, "another program made this commit"),
        (by_hand(meta_for(GOOD), GOOD, "00.bin"), "should be named"),
        (by_hand(meta_for(WRONG_ID), WRONG_ID), "event 0: it is stored as 0000"),
        (by_hand(meta_for(NEWER), NEWER), "version 2"),
        (by_hand(meta_for(b""), b""), "does not start with GRITECNK"),
    ],
)
def test_a_bad_entry_is_named_and_the_rest_is_read(
    files: dict[str, bytes], fault: str, mirror: Path, log: Log
) -> None:
    first = append(log, comment("before"))
    bad = commit(mirror, files, first)
    set_head(log, bad, first)
    head = append(log, comment("after"))

    before, quarantined, after = log.entries(head)

    assert before.events == (comment("before"),)
    assert quarantined.commit == bad
    assert quarantined.events == ()
    assert fault in " ".join(quarantined.faults)
    assert after == Entry(head, ACTOR, after.at_ms, (comment("after"),), ())


@looped(
    (meta_for(GOOD, schema_version=2), "does not have version 1"),
    ([], "does not have version 1"),
    (meta_for(GOOD, actor_id="10"), "does not name an actor"),
    (meta_for(GOOD, actor_id="someone"), "non-hexadecimal"),
    (meta_for(GOOD, chunk_hash="00"), "the commit's chunks differ: it has"),
    (meta_for(GOOD, prev_wal="1" * 40), "a previous entry other than"),
)
def test_events_that_verify_are_read_even_if_what_is_said_of_them_is_wrong(
    meta: object, fault: str, mirror: Path, log: Log
) -> None:
    (entry,) = log.entries(commit(mirror, by_hand(meta, GOOD)))

    assert entry.events == (comment("good"),)
    assert fault in " ".join(entry.faults)


@pytest.mark.parametrize(
    ("lost", "fault"),
    [
        (lambda head: f"{head}:meta.json", "meta.json: "),
        (lambda head: f"{head}^{{tree}}", "cannot be read: "),
        (lambda head: f"{head}:events", "cannot be read: "),
        (lambda head: f"{head}:events/2023/11/14/{chunk.file_name(GOOD)}", ".bin: "),
    ],
)
def test_a_lost_object_is_a_fault_of_its_entry(
    lost: Callable[[str], str], fault: str, mirror: Path
) -> None:
    writer = Log(mirror)
    append(writer, comment("before"))
    head = append(writer, comment("good"))
    lose(mirror, said(mirror, "rev-parse", lost(head)))

    before, entry = Log(mirror).entries(head)

    assert before.faults == ()
    assert any(fault in said for said in entry.faults)


def test_a_lost_commit_ends_the_reading_and_says_so(mirror: Path) -> None:
    writer = Log(mirror)
    commits = [append(writer, comment(str(k))) for k in range(4)]
    lose(mirror, commits[1])
    log = Log(mirror)

    gone, *rest = log.entries(commits[3])

    assert (gone.commit, gone.actor, gone.events) == (commits[1], None, ())
    assert "cannot be read" in gone.faults[0]
    assert [entry.commit for entry in rest] == commits[2:]
    assert log.entries(commits[3], since=commits[2]) == [rest[-1]]
    with pytest.raises(Missing, match="not known whether"):
        log.entries(commits[3], since=commits[0])


# --- one entry read with the git program alone ----------------------------------------


SOME = [vector(number)[0] for number in range(1, 15)]


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
