import json
from pathlib import Path

import pytest

from grite import chunk
from grite.errors import BratError, Corrupt
from grite.remote import ensure_mirror
from grite.wal import WAL_REF, Log
from tests.grite.commits import said
from tests.grite.vectors import ACTOR, T0, vector
from tests.grite.writing import append, comment

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
    assert said(mirror, "log", "--format=%H %P %an <%ae> %cn <%ce> %B", second) == (
        f"{second} {first} grite <grit@local> grite <grit@local> "
        "WAL: 2 events from 10111213\n"
        f"{first}  grite <grit@local> grite <grit@local> WAL: 1 events from 10111213"
    )


def test_a_commits_date_never_goes_back(mirror: Path, log: Log) -> None:
    append(log, comment("a"), at_ms=T0 + 5999)
    append(log, comment("b"), at_ms=T0 - 10_000)
    head = append(log, comment("c"), at_ms=T0 + 7000)

    dates = said(mirror, "log", "--format=%ct %at", head).splitlines()
    assert dates == [f"{T0 // 1000 + s} {T0 // 1000 + s}" for s in (7, 5, 5)]


def test_the_folder_is_the_day_of_the_first_event_however_late(
    mirror: Path, log: Log
) -> None:
    leap = 1_709_251_199_999  # the last millisecond of 29 February 2024
    head = append(log, comment("a", leap), comment("b", T0))
    never = append(log, comment("c", 2**64 - 1))

    assert "events/2024/02/29/" in said(mirror, "ls-tree", "-r", head)
    assert "events/9999/12/31/" in said(mirror, "ls-tree", "-r", never)


def test_a_head_that_does_not_descend_is_corrupt_and_both_are_named(log: Log) -> None:
    head = append(log, comment("a"))
    other = log.write([comment("b")], parent=None, actor=ACTOR, at_ms=T0)

    with pytest.raises(Corrupt, match=f"{other} does not descend from {head}"):
        log.entries(other, since=head)


def test_objects_that_git_brings_are_seen_at_once(
    log: Log, mirror: Path, tmp_path: Path
) -> None:
    ensure_mirror(tmp_path / "other.git")
    head = append(Log(tmp_path / "other.git"), comment("a"))
    assert log.head() is None

    url = (tmp_path / "other.git").as_uri()
    said(mirror, "fetch", "--quiet", url, f"{WAL_REF}:{WAL_REF}")

    assert log.head() == head
    assert [entry.events for entry in log.entries(head)] == [(comment("a"),)]


def test_an_entry_after_one_that_is_not_there_or_of_nothing_is_not_written(
    log: Log, tmp_path: Path
) -> None:
    with pytest.raises(BratError, match="there is no repository at"):
        Log(tmp_path / "nowhere")
    with pytest.raises(Corrupt, match="is not in"):
        log.write([comment("a")], parent="1" * 40, actor=ACTOR, at_ms=T0)
    with pytest.raises(ValueError, match="at least one event"):
        log.write([], parent=None, actor=ACTOR, at_ms=T0)
