"""Snapshots in grite's own form, and what is wrong in one is named."""

from pathlib import Path

import pygit2
import pytest

from grite import chunk, snapshot
from grite.errors import Corrupt
from grite.event import Event
from tests.grite.commits import commit, said
from tests.grite.vectors import T0, vector
from tests.grite.writing import comment

HEAD = "7fecce287168ba907892565c93f439bf3685ce33"
TEXT = f"""{{
  "schema_version": 1,
  "created_ts": {T0 + 1},
  "wal_head": "{HEAD}",
  "event_count": 1,
  "chunks": [
    {{
      "path": "events/0000.bin",
      "chunk_hash": "762674a2ca507121c33ab91f1b674fe02f13665681c164bb6044fbecd881d66d",
      "event_count": 1
    }}
  ]
}}"""


@pytest.fixture
def repo(mirror: Path) -> pygit2.Repository:
    return pygit2.Repository(str(mirror))


def written(repo: pygit2.Repository, *some: Event) -> str:
    return snapshot.write(repo, some, wal_head=HEAD, at_ms=T0 + 1)


def test_a_snapshot_has_grites_form(mirror: Path, repo: pygit2.Repository) -> None:
    event, _ = vector(1)

    made = written(repo, event)

    assert said(mirror, "show", f"{made}:snapshot.json") == TEXT
    assert said(mirror, "ls-tree", "-r", "--name-only", made).split() == [
        "events/0000.bin",
        "snapshot.json",
    ]
    # The chunk is the golden one: the id of its blob is known.
    blob = said(mirror, "rev-parse", f"{made}:events/0000.bin")
    assert blob == "4f324a40c1eb6f948d10169b3547679807774466"
    shown = said(mirror, "show", "-s", "--format=%P|%an <%ae>|%cn <%ce>|%at|%B", made)
    assert shown == (
        f"|grite <grit@local>|grite <grit@local>|{T0 // 1000}|"
        f"Snapshot: 1 events at {T0 + 1}"
    )
    assert snapshot.ref_of(T0) == f"refs/grite/snapshots/{T0}"
    assert written(repo, event) == made


def test_a_thousand_events_fill_a_chunk(mirror: Path, repo: pygit2.Repository) -> None:
    events = tuple(comment(str(k), T0 + k) for k in range(2001))

    made = written(repo, *events)

    names = said(mirror, "ls-tree", "-r", "--name-only", made, "events/").split()
    assert names == [f"events/000{k}.bin" for k in range(3)]
    read = snapshot.read(repo, made)
    assert read == snapshot.Snapshot(T0 + 1, HEAD, events)


def test_an_empty_one_holds_nothing(repo: pygit2.Repository) -> None:
    assert snapshot.read(repo, written(repo)).events == ()


def test_a_bad_chunk_is_named_and_the_rest_is_read(
    mirror: Path, repo: pygit2.Repository
) -> None:
    good = chunk.encode([vector(1)[0]])
    bad = good.replace(b"Test", b"Tess")

    found = snapshot.read(
        repo,
        commit(
            mirror,
            {
                "snapshot.json": TEXT.replace(
                    "\n  ]",
                    f""",
    {{"path": "events/0001.bin", "chunk_hash": "{chunk.chunk_hash(bad).hex()}"}},
    {{"path": "events/0002.bin", "chunk_hash": "{"0" * 64}"}},
    {{"path": "events/0009.bin", "chunk_hash": "{"0" * 64}"}},
    7\n  ]""",
                ).encode(),
                "events/0000.bin": good,
                "events/0001.bin": bad,
                "events/0002.bin": good,
            },
        ),
    )

    assert found.events == (vector(1)[0],)
    for said_of, fault in zip(
        ("but its id is", "holds what belongs in", "holds no events/0009", "another"),
        found.faults,
        strict=True,
    ):
        assert said_of in fault


def test_fewer_events_than_promised_are_a_fault(
    mirror: Path, repo: pygit2.Repository
) -> None:
    text = TEXT.replace(
        '"event_count": 1,\n  "chunks"', '"event_count": 9,\n  "chunks"'
    )
    files = {
        "snapshot.json": text.encode(),
        "events/0000.bin": chunk.encode([vector(1)[0]]),
    }

    found = snapshot.read(repo, commit(mirror, files))

    assert found.faults == ("snapshot.json promises 9 events, there are 1",)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (None, "holds no snapshot.json"),
        ("no json", "holds no snapshot: "),
        ("[]", "another form"),
        (TEXT.replace('version": 1', 'version": 2'), "another form"),
    ],
)
def test_what_is_no_snapshot_is_corrupt(
    text: str | None, fault: str, mirror: Path, repo: pygit2.Repository
) -> None:
    files = {"a": b""} if text is None else {"snapshot.json": text.encode()}

    with pytest.raises(Corrupt, match=fault):
        snapshot.read(repo, commit(mirror, files))


def test_what_is_not_there_is_corrupt(repo: pygit2.Repository) -> None:
    with pytest.raises(Corrupt, match="1111"):
        snapshot.read(repo, "1" * 40)
