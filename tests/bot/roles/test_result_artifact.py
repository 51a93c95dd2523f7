"""An artifact is taken as it should be, or refused whole with one sentence."""

import re
import warnings
import zipfile
from typing import Final

from hypothesis import example, given, settings, strategies as st

from bot.roles import result_artifact
from bot.roles.result_artifact import Unacceptable
from convoy.events.session_events import SessionReady
from convoy.events.task_events import TaskBlocked
from convoy.model import ids
from convoy.model.records import TOKENS_MOST, Usage as Used
from grite.event import CommentAdded, Event as GriteEvent, LabelAdded
from tests.bot.result_artifacts import (
    ACTOR,
    BUNDLE,
    COMMIT,
    CONVOY,
    ISSUE,
    NONCE,
    SESSION,
    TASK,
    Who,
    artifact,
    claim,
    encrypted,
    events,
    good,
    lying,
    result,
    taken,
    why,
    zipped,
)
from tests.world.cases import looped


def test_a_good_parcel_is_taken_and_its_files_go_when_it_is_closed() -> None:
    with result_artifact.opened(
        good(), session=SESSION, nonce=NONCE, actor=ACTOR.hex()
    ) as parcel:
        assert parcel.bundle is not None
        assert parcel.bundle.read_bytes() == BUNDLE[1]

    assert parcel.claims == (claim(),)
    assert parcel.result.commit == COMMIT
    assert (parcel.result.conclusion, parcel.result.summary) == ("success", "All done.")
    assert not parcel.bundle.parent.exists()


def test_what_the_agent_leaves_and_used_is_taken_in_bounds() -> None:
    said = {"notes": ["a"], "shared": ["b"], "colour": "red"}
    usage = {"input_tokens": -5, "output_tokens": 10**400, "usd": -1e9}
    told = taken(artifact(left=said, usage=usage)).result

    assert (told.left.notes, told.left.shared) == (("a",), ("b",))
    assert told.used == Used(output_tokens=TOKENS_MOST)
    assert taken(artifact()).result.used == Used()


HUGE = bytes(1_000_000)
RESULT = ("result.json", result())
NO_CHUNKS = (b"", b"GRITECNK", b"x" * 99, events()[:-1] + b"\x9f")
NO_RESULTS = (
    *(b"", b"{", b"[]", b"null", b"\xff", b'{"v":1,"v":2}'),
    *(b"[" * 50_000, result(why="x").replace(b'"x"', b'"\\ud800"')),
    *(result(x=1).replace(b"1}", b"[" * 50_000), result(usage={"usd": float("nan")})),
)


@looped(
    (zipped(BUNDLE), "the artifact has no result.json"),
    (zipped(("result.json", result() + HUGE)), "larger than 1000000 bytes"),
    (artifact(commit=COMMIT), "has no work.bundle"),
    (
        artifact(
            ("events.bin", events(claim()).replace(b"has started", b"has stopped"))
        ),
        "stored as",
    ),
    (artifact(("events.bin", events(*[claim()] * 1_001))), "has too many events: 1001"),
    (artifact(("events.bin", events(claim()) + HUGE)), "larger than 1000000 bytes"),
    (encrypted(good()), "cannot be unpacked"),
    (
        zipped(RESULT, method=zipfile.ZIP_BZIP2),
        "uses an unsupported compression method",
    ),
    (zipped(RESULT, method=zipfile.ZIP_LZMA), "uses an unsupported compression method"),
    *((data, "not a zip file") for data in (b"", b"PK", b"no zip", b"<html>" * 99)),
    *((artifact(("events.bin", data)), "events.bin: ") for data in NO_CHUNKS),
    *((zipped(("result.json", text)), "result.json: ") for text in NO_RESULTS),
)
def test_what_lacks_a_part_or_is_broken_is_refused(data: bytes, said: str) -> None:
    assert said in why(data)


@looped(
    ("v", 2, ...),
    ("conclusion", "merged", ...),
    ("session", 7, ...),
    ("nonce", None, ...),
    ("base", ..., 7),
    ("outcome", "won", 7),
    ("retry_after_s", -1, "soon"),
    ("usage", "much", {"input_tokens": 0.5}),
    ("commit", "HEAD", "c" * 39),
    ("commit", "c" * 40 + "\n", "--upload-pack=x"),
    ("why", "x" * 2_001, 7),
    ("summary", "x" * 10_001, ["x"]),
    ("left", {"notes": ["x"] * 11}, {"shared": ["x" * 401]}),
)
def test_a_result_of_another_form_is_refused_by_its_field(
    field: str, first: object, second: object
) -> None:
    for bad in (first, second):
        said = why(artifact(**{field: bad}))
        assert re.match(rf"result.json: .*`(\$.)?{field}(\..*)?`$", said), bad


BLOCKED = TaskBlocked(convoy=CONVOY, task=TASK, why="forged")
DEEP = f"x\n\n[brat]{'[' * 10_000}[/brat]"


@looped(
    (claim(actor=bytes(16)), "an event by actor 0000"),
    (claim(BLOCKED), "an event that sessions may not write"),
    (GriteEvent(ISSUE, ACTOR, 5, CommentAdded("hello")), "may not write"),
    (GriteEvent(ISSUE, ACTOR, 5, CommentAdded(DEEP)), "may not write"),
    (
        GriteEvent(ISSUE, ACTOR, 5, LabelAdded("x")),
        "an event that is not a comment",
    ),
    (claim(issue=ids.issue_of(CONVOY, 3)), "on another task's issue"),
    (claim(issue=ids.repository_issue()), "on another task's issue"),
)
def test_a_foreign_event_refuses_the_lot(told: GriteEvent, said: str) -> None:
    assert said in why(artifact(("events.bin", events(claim(), told))))


@looped(
    Who(convoy="other-8", task=TASK, attempt=1),
    Who(convoy=CONVOY, task=3, attempt=1),
    Who(convoy=CONVOY, task=TASK, attempt=2),
)
def test_a_session_speaks_only_of_itself(who: Who) -> None:
    for other in ({"session": ids.session_name(**who)}, {"nonce": "other"}):
        assert why(artifact(**other)).startswith("the result is another run's: ")
    told = claim(SessionReady(**who), issue=ids.issue_of(who["convoy"], who["task"]))
    said = why(artifact(("events.bin", events(told))))
    assert said == "events.bin contains an event of another session"


GOOD = good()


@looped(
    *("../result.json", "/etc/passwd", "a/../../x", "folder/result.json"),
    *("work.bundle/", "C:\\x", "notes.txt", "RESULT.JSON", "result.json "),
    *(".git/config", "x" * 5_000),
)
def test_a_name_that_is_not_known_is_refused(name: str) -> None:
    said = why(artifact((name, b"x")))
    assert said.startswith("unexpected file in the artifact: ")
    assert len(said) < 200


def test_a_name_that_comes_twice_is_refused() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile's own, of whoever writes one
        twice = artifact(("result.json", result(conclusion="failure")))

    assert why(twice) == "the artifact contains the same file name twice"


FAR: Final = "0100 0800 ffffffffffffffff"
"""The place of a file in an archive of the form zip64.
https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT (4.5.3)
"""


def test_a_file_whose_place_is_beyond_all_numbers_is_refused() -> None:
    data = bytearray(zipped(("result.json", result()), extra=bytes.fromhex(FAR)))
    place = data.rindex(b"PK\1\2") + 42
    data[place : place + 4] = b"\xff" * 4  # it stands in the extra field

    assert "result.json cannot be unpacked: " in why(bytes(data))


def test_what_would_unpack_to_too_much_is_refused_unread() -> None:
    large = artifact(("work.bundle", bytes(result_artifact.BUNDLE_BYTES + 1)))
    many = zipped(*((str(number), b"") for number in range(3_000)))
    slow = zipped(("a", b""), ("b", b""), extra=b"\t\0\0\0" * 16_000)
    huge = lying(artifact(BUNDLE), 1, result_artifact.UNPACKED_BYTES)
    modest = lying(artifact(("transcript.jsonl", bytes(50_000_000))), 1, 10)

    assert why(large) == "work.bundle is larger than 100000000 bytes"
    for each in (many, slow):
        assert why(each) == "the artifact lists too many files"
    assert why(huge) == "the artifact unpacks to over 500000000 bytes"
    assert "transcript.jsonl cannot be unpacked" in why(modest)


@given(
    st.lists(
        st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)),
        min_size=1,
        max_size=4,
    )
)
@example([(GOOD.rindex(b"PK\x01\x02") + 6, 255)])  # a version of zip to come
@example([(GOOD.rindex(b"PK\x01\x02") + 45, 255)])  # an entry before the file
@settings(deadline=None, max_examples=200)
def test_a_changed_zip_is_taken_or_refused(changes: list[tuple[int, int]]) -> None:
    data = bytearray(GOOD)
    for place, value in changes:
        data[place] = value

    try:
        parcel = taken(bytes(data))
    except Unacceptable:
        return
    assert parcel.result.session == SESSION
