"""Zips that are cut off, bloated, forged or broken: refused whole, never an error."""

import warnings
import zipfile

import pytest
from hypothesis import example, given, settings, strategies as st

from bot.roles import result_artifact
from bot.roles.result_artifact import Unacceptable
from tests.bot.result_artifacts import (
    BUNDLE,
    SESSION,
    artifact,
    encrypted,
    good,
    lying,
    result,
    taken,
    why,
    zipped,
)
from tests.world.cases import looped

GOOD = good()


@pytest.mark.parametrize("data", [b"", b"PK", b"no zip", b"<html>502</html>" * 99])
def test_what_is_no_zip_is_refused(data: bytes) -> None:
    assert "no zip file" in why(data)


def test_a_zip_that_was_cut_off_is_refused() -> None:
    for length in range(0, len(GOOD) - 1, 7):
        assert why(GOOD[:length])


@looped(
    "name",
    [
        "../result.json",
        "/etc/passwd",
        "a/../../x",
        "folder/result.json",
        "work.bundle/",
        "C:\\x",
        "notes.txt",
        "RESULT.JSON",
        "result.json ",
        ".git/config",
    ],
)
def test_a_name_that_is_not_known_is_refused(name: str) -> None:
    said = why(artifact((name, b"x")))

    assert said.startswith("the artifact holds ")


def test_a_name_cannot_fill_the_page() -> None:
    assert len(why(artifact(("x" * 5_000, b"")))) < 200


def test_a_name_that_comes_twice_is_refused() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile's own, of whoever writes one
        twice = artifact(("result.json", result(conclusion="failure")))

    assert why(twice) == "the artifact holds a name twice"


def test_what_would_unpack_to_too_much_is_refused_unread() -> None:
    huge = lying(artifact(BUNDLE), 1, result_artifact.UNPACKED_BYTES)

    assert why(huge) == "the artifact unpacks to over 500000000 bytes"


def test_a_bundle_that_is_too_large_is_refused_unread() -> None:
    bundle = ("work.bundle", bytes(result_artifact.BUNDLE_BYTES + 1))

    assert why(artifact(bundle)) == "work.bundle is larger than 100000000 bytes"


def test_a_bomb_that_says_it_is_small_unpacks_no_further_than_it_says() -> None:
    bomb = lying(artifact(("transcript.jsonl", bytes(50_000_000))), 1, 10)

    assert "transcript.jsonl does not unpack" in why(bomb)


def test_an_encrypted_file_is_refused() -> None:
    assert "does not unpack" in why(encrypted(GOOD))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packing_that_no_forge_uses_is_refused(method: int) -> None:
    assert "packed in a way" in why(zipped(("result.json", result()), method=method))


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
def test_a_zip_with_changed_bytes_is_taken_or_refused(
    changes: list[tuple[int, int]],
) -> None:
    data = bytearray(GOOD)
    for place, value in changes:
        data[place] = value

    try:
        parcel = taken(bytes(data))
    except Unacceptable:
        return
    assert parcel.result.session == SESSION
