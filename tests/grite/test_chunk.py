"""The file that holds events: what is written, what is read, what is refused."""

import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace

from grite import chunk, event
from grite.errors import Corrupt
from grite.event import Event, UnknownKind, payload_of, write_cbor
from tests.grite.vectors import ACTOR, ISSUE, OTHER, T0, VECTORS, vector
from tests.world import second_reader
from tests.world.cases import looped

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
ids = st.binary(min_size=16, max_size=16)
hashes = st.binary(min_size=32, max_size=32)
payloads = st.recursive(
    st.none() | st.integers(0, 2**64 - 1) | st.binary() | texts,
    lambda inner: st.lists(inner, max_size=5).map(tuple),
    max_leaves=10,
)
kinds: st.SearchStrategy[event.Kind] = st.one_of(
    st.builds(
        event.IssueCreated, texts, texts, st.lists(texts, max_size=30).map(tuple)
    ),
    st.sampled_from([event.CommentAdded, event.LabelAdded, event.LabelRemoved]).flatmap(
        lambda kind: st.builds(kind, texts)
    ),
    st.builds(event.StateChanged, st.sampled_from(["open", "closed"])),
    st.builds(
        event.UnknownKind,
        st.just(2) | st.integers(7, 2**64 - 1),
        payloads.map(event.write_cbor),
    ),
)
events = st.builds(
    event.Event,
    ids,
    ids,
    st.integers(0, 2**64 - 1),
    kinds,
    st.none() | hashes,
    st.none() | st.binary(min_size=64, max_size=64),
)

usual = st.builds(
    event.Event, ids, ids, st.integers(0, 2**64 - 1), kinds, st.none(), st.none()
)
"""Without parent and signature: read on the chunk's own bytes if each is one text."""


def test_a_chunk_has_grites_bytes() -> None:
    data = chunk.encode([vector(1)[0]])

    assert data.hex() == (
        "4752495445434e4b01000763626f722d7631" + "8188" + "5820" + VECTORS[0][2]
        + "50" + ISSUE.hex() + "50" + ACTOR.hex() + "1b0000018bcfe56800" + "f6" + "01"
        + "83645465737464426f64798263627567627030" + "f6"
    )  # fmt: skip
    hashed = "762674a2ca507121c33ab91f1b674fe02f13665681c164bb6044fbecd881d66d"
    assert chunk.chunk_hash(data).hex() == hashed


@settings(deadline=None, max_examples=200)
@given(st.lists(events, max_size=4) | st.lists(usual, max_size=4))
def test_another_reader_reads_whatever_is_written(some: list[Event]) -> None:
    def lists(value: object) -> object:
        return [lists(each) for each in value] if isinstance(value, tuple) else value

    data = chunk.encode(some)
    assert second_reader.events(data) == [
        [
            *(one.id, one.issue, one.actor, one.ts, one.parent, one.kind.tag),
            *(lists(payload_of(one.kind)), one.sig),
        ]
        for one in some
    ]
    found = chunk.decode(data)
    assert found == chunk.Chunk(tuple(some), ())
    assert [event.id for event in found.events] == [event.id for event in some]


@settings(deadline=None, max_examples=200)
@given(st.lists(events | usual, min_size=1, max_size=3), st.data())
def test_a_changed_byte_is_never_read_as_another_event(
    some: list[Event], data: st.DataObject
) -> None:
    good = chunk.encode(some)
    at = data.draw(st.integers(len(chunk.HEADER), len(good) - 1))
    bad = bytearray(good)
    bad[at] ^= data.draw(st.integers(1, 255))

    try:
        found = chunk.decode(bytes(bad))
    except Corrupt:
        return

    # A signature is not part of the id.
    known = {replace(event, sig=None) for event in some}
    assert {replace(event, sig=None) for event in found.events} <= known


@looped(
    (15, ("from the future",)),
    (1, ("title", "body", (), "a field more")),
    (6, ("postponed",)),
    (11, (OTHER, "blocks")),
    (3, (7,)),
    (3, None),
)
def test_what_a_later_version_writes_is_kept_as_it_is(
    tag: int, payload: object
) -> None:
    event = Event(ISSUE, ACTOR, T0, UnknownKind(tag, write_cbor(payload)))

    found = chunk.decode(chunk.encode([event]))

    assert found == chunk.Chunk((event,), ())


def test_a_row_that_is_no_event_is_a_fault() -> None:
    good = vector(3)[0]
    row = (good.id, ISSUE, ACTOR, good.ts, good.parent, 3, ("Looks good",), None)
    odd = ((0, "id"), (0, b""), (1, "issue"), (2, b""), (3, -1), (3, True))
    wrong: list[object] = [7, [1, 2, 3]]
    for at, value in (*odd, (4, b"short"), (5, "3"), (7, "signed")):
        wrong.append((*row[:at], value, *row[at + 1 :]))

    for one in wrong:
        found = chunk.decode(chunk.HEADER + write_cbor([one, row]))

        assert found.events == (good,)
        assert len(found.faults) == 1
        assert found.faults[0].startswith("event 0: ")


@looped(
    (b"", "does not start with GRITECNK"),
    (b"PK\x03\x04" + bytes(20), "does not start with GRITECNK"),
    (b"GRITECNK\x02\x00\x07cbor-v1\x80", "version 2"),
    (b"GRITECNK\x01\x00\x07cbor-v2\x80", "a codec other"),
    (chunk.HEADER[:-1], "a codec other"),
    (chunk.HEADER, "bad CBOR"),
    (chunk.HEADER + b"\x82\x80", "bad CBOR"),
    (chunk.HEADER + b"\xa0", "not contain an array"),
    (chunk.HEADER + b"\x9b" + b"\xff" * 8, "bad CBOR"),
    (chunk.HEADER + b"\x81" * 100_000, "bad CBOR"),
    *(  # a tag could unfold without end
        (chunk.HEADER + b"\x81" + bytes.fromhex(tagged), "bad CBOR")
        for tagged in ("c06161", "c24101", "d81c81d81d00", "da0001000001")
    ),
)
def test_what_is_no_chunk_is_corrupt(data: bytes, why: str) -> None:
    with pytest.raises(Corrupt, match=why):
        chunk.decode(data)
