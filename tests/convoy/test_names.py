import re

import pytest
from hypothesis import given, settings, strategies as st

from convoy.model import ids
from convoy.text import NAME_CHARS, convoy_name
from tests.world.cases import looped

TITLES = st.one_of(
    st.text(max_size=80),
    st.lists(st.sampled_from(["Fix", "the", "auth-module", "é", "--", "x" * 45])).map(
        " ".join
    ),
)


@looped(
    ("Fix auth", (), "fix-auth-7"),
    ("修复登录", (), "convoy-7"),
    (
        *("Refactor the auth module to use JWT tokens", ()),
        "refactor-the-auth-module-to-use-jwt-7",
    ),
    ("x" * 60, (), "x" * 38 + "-7"),
    # a taken name gets the next suffix that is not another issue's name
    ("Fix", ("fix-7",), "fix-7-2"),
    ("Fix", ("fix-7", convoy_name("Fix 7", 2, ())), "fix-7-3"),
)
def test_a_name_ends_in_the_issues_number(
    title: str, taken: tuple[str, ...], expected: str
) -> None:
    assert convoy_name(title, 7, taken) == expected


@settings(deadline=None)
@given(TITLES, st.integers(1, 10**12), st.integers(0, 12))
def test_names_are_short_clean_and_all_different(
    title: str, issue: int, others: int
) -> None:
    taken: set[str] = set()

    for _ in range(others + 1):
        name = convoy_name(title, issue, taken)
        assert name not in taken
        assert len(name) <= NAME_CHARS
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
        taken.add(name)


names = st.from_regex(r"[a-z0-9][a-z0-9-]{0,39}", fullmatch=True)


@given(names, st.integers(0, 999_999_999), st.integers(1, 999_999_999))
def test_a_session_is_parsed_as_it_was_named(name: str, task: int, k: int) -> None:
    assert ids.parse_session(ids.session_name(name, task, k)) == (name, task, k)
    for text in (
        *("", "a", "a/1", "a/1/0", "a/01/1", "A/1/1", "-a/1/1", "a/1/1\n", "a/1/1/1"),
        *("../1/1", f"{'a' * 41}/1/1", "a/-1/1", "a/1/\u0661"),
    ):
        with pytest.raises(ValueError, match=r"not the name of a session; give .*\.$"):
            ids.parse_session(text)


def test_issues_never_share_an_id() -> None:
    parts = (("a", 0), ("b", 0), ("a", 1), ("a", 11))
    issues = [ids.repository_issue(), *(ids.issue_of(*part) for part in parts)]

    assert len(set(issues)) == len(issues)
    assert {len(issue) for issue in issues} == {16}
    assert issues[0].hex() == "9c4251739694995019415fe120911d2f", "in every version"


def test_a_text_is_found_by_the_keys_it_hides() -> None:
    told = (("dispatch", "fix-7/2/1"), ("pull", "fix-7", 2))
    keys = (*(ids.key(*key) for key in told), ids.comment_key("fix--7"))

    text = "Hello\n" + "\n".join(map(ids.marker, keys)) + "\nbye"

    assert ids.keys_in(text) == keys
    assert ids.keys_in("<!-- brat:key= -->") == ()
