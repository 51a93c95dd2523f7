import json
from pathlib import Path

import pytest

from grite import chunk
from grite.chunk import read_commit
from grite.entry import Entry
from grite.errors import BratError, Corrupt, GitFailed, Missing
from grite.remote import RefUpdate, Remote, ensure_mirror
from grite.wal import WAL_REF, Log
from tests.grite.commits import append, comment, commit, lose, said
from tests.grite.vectors import ACTOR, T0, vector
from tests.world.cases import looped
from tests.world.local_log import appended, set_head

# --- the bytes ------------------------------------------------------------------------


def test_a_commit_has_grites_own_ids(mirror: Path, log: Log) -> None:
    event, _ = vector(1)

    head = append(log, event)

    assert head == "7fecce287168ba907892565c93f439bf3685ce33"
    name = chunk.file_name(chunk.encode([event]))
    assert said(mirror, "rev-parse", f"{head}^{{tree}}") == (
        "a56fe59c5b52205fe1ebf201cae2dd91aedf1b4b"
    )
    assert said(mirror, "ls-tree", "-r", head).split() == [
        *("100644", "blob", "4f324a40c1eb6f948d10169b3547679807774466"),
        f"events/2023/11/14/{name}",
        *("100644", "blob", "2e7bad03e69d4e041844928333d157cb9a9e5d5a"),
        "meta.json",
    ]


def test_the_next_commit_names_the_one_before_it(mirror: Path, log: Log) -> None:
    first = append(log, comment("a"))
    second = append(log, comment("b"), comment("c"))

    meta = said(mirror, "show", f"{second}:meta.json")
    assert json.loads(meta)["prev_wal"] == first
    assert meta.startswith('{\n  "schema_version": 1,\n  "actor_id": "1011')
    who = "grite <grit@local> grite <grit@local> WAL:"
    assert said(mirror, "log", "--format=%H %P %an <%ae> %cn <%ce> %B", second) == (
        f"{second} {first} {who} 2 events from 10111213\n"
        f"{first}  {who} 1 events from 10111213"
    )


def test_a_commits_date_never_goes_back_and_its_folder_is_its_first_events_day(
    mirror: Path, log: Log
) -> None:
    append(log, comment("a"), at_ms=T0 + 5999)
    append(log, comment("b"), at_ms=T0 - 10_000)
    head = append(log, comment("c"), at_ms=T0 + 7000)
    dates = said(mirror, "log", "--format=%ct %at", head).splitlines()
    assert dates == [f"{T0 // 1000 + s} {T0 // 1000 + s}" for s in (7, 5, 5)]

    leap = 1_709_251_199_999  # the last millisecond of 29 February 2024
    head = append(log, comment("a", leap), comment("b", T0))
    never = append(log, comment("c", 2**64 - 1))
    assert "events/2024/02/29/" in said(mirror, "ls-tree", "-r", head)
    assert "events/9999/12/31/" in said(mirror, "ls-tree", "-r", never)


def test_a_head_that_does_not_descend_is_corrupt_and_both_are_named(
    log: Log, tmp_path: Path
) -> None:
    head = append(log, comment("a"))
    other = log.write([comment("b")], parent=None, actor=ACTOR, at_ms=T0)

    with pytest.raises(Corrupt, match=f"{other} does not descend from {head}"):
        log.entries(other, since=head)
    with pytest.raises(BratError, match="there is no repository at"):
        Log(tmp_path / "nowhere")
    with pytest.raises(Corrupt, match="is not in"):
        log.write([comment("a")], parent="1" * 40, actor=ACTOR, at_ms=T0)
    with pytest.raises(ValueError, match="at least one event"):
        log.write([], parent=None, actor=ACTOR, at_ms=T0)


# --- what is wrong in a log is named, and the rest is read ----------------------------


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


@looped(
    ({"README.md": b"hello"}, "another program made this commit"),
    (by_hand(meta_for(GOOD), GOOD, "00.bin"), "should be named"),
    (by_hand(meta_for(WRONG_ID), WRONG_ID), "event 0: it is stored as 0000"),
    (by_hand(meta_for(NEWER), NEWER), "version 2"),
    (by_hand(meta_for(b""), b""), "does not start with GRITECNK"),
)
def test_a_bad_entry_is_named_and_the_rest_is_read(
    files: dict[str, bytes], fault: str, mirror: Path, log: Log
) -> None:
    start = log.head()
    first = append(log, comment("before"))
    bad = commit(mirror, files, first)
    set_head(log, bad, first)
    head = append(log, comment("after"))

    before, quarantined, after = log.entries(head, since=start)

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
        (":meta.json", "meta.json: "),
        ("^{tree}", "cannot be read: "),
        (":events", "cannot be read: "),
        (f":events/2023/11/14/{chunk.file_name(GOOD)}", ".bin: "),
    ],
)
def test_a_lost_object_is_a_fault_of_its_entry(
    lost: str, fault: str, mirror: Path
) -> None:
    writer = Log(mirror)
    append(writer, comment("before"))
    head = append(writer, comment("good"))
    lose(mirror, said(mirror, "rev-parse", f"{head}{lost}"))

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
    ensure_mirror(box := tmp_path / "box.git")
    there = Log(box)
    assert there.head() is None

    Remote(remote.url, box).fetch([head], depth=1)

    assert read_commit(box, head) == tuple(SOME)
    with pytest.raises(GitFailed):
        read_commit(box, first)
    said(box, "fetch", "--quiet", "--unshallow", remote.url, f"{WAL_REF}:{WAL_REF}")
    assert there.head() == head, "what git brings is seen at once"
    assert [len(entry.events) for entry in there.entries(head)] == [1, len(SOME)]


@looped(
    ({"README.md": b"hello"}, "contains no chunk"),
    ({"events/x/00.bin": GOOD}, "should be named"),
    ({f"events/{chunk.file_name(WRONG_ID)}": WRONG_ID}, "does not verify"),
    ({f"events/{chunk.file_name(b'')}": b""}, "GRITECNK"),
    ({f"events/{chunk.file_name(GOOD)}": GOOD}, "is missing"),
)
def test_half_an_entry_is_none(files: dict[str, bytes], why: str, mirror: Path) -> None:
    written = commit(mirror, files)
    if why == "is missing":
        (path,) = files
        lose(mirror, said(mirror, "rev-parse", f"{written}:{path}"))
    with pytest.raises(Corrupt, match=why):
        read_commit(mirror, written)
    for name in ("HEAD", "--help", "1" * 39, ""):
        with pytest.raises(ValueError, match="full ID"):
            read_commit(mirror, name)
