import re
import subprocess

import pytest
from hypothesis import given, settings, strategies as st

from convoy.text import NAME_CHARS, convoy_name, slug
from tests.world.cases import looped

TITLES = st.one_of(
    st.text(max_size=80),
    st.lists(st.sampled_from(["Fix", "the", "auth-module", "é", "--", "x" * 45])).map(
        " ".join
    ),
)


@looped(
    ("title", "expected"),
    [
        ("Refactor the auth module", "refactor-the-auth-module"),
        ("  Don't `panic()` -- ever!  ", "dont-panic-ever"),
        ("Über-Größe & Café №5", "uber-grosse-cafe-no5"),
        ("v1.2.lock", "v1-2-lock"),
        ("修复登录", ""),
        ("", ""),
    ],
)
def test_a_slug_is_the_titles_plain_letters(title: str, expected: str) -> None:
    assert slug(title) == expected


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Fix auth", "fix-auth-7"),
        ("修复登录", "convoy-7"),
        (
            "Refactor the auth module to use JWT tokens",
            "refactor-the-auth-module-to-use-jwt-7",
        ),
        ("x" * 60, "x" * 38 + "-7"),
    ],
)
def test_a_name_ends_in_the_issues_number(title: str, expected: str) -> None:
    assert convoy_name(title, 7, ()) == expected


def test_a_taken_name_gets_the_next_free_suffix() -> None:
    assert convoy_name("Fix auth", 7, {"fix-auth-7"}) == "fix-auth-7-2"
    assert convoy_name("Fix auth", 7, {"fix-auth-7", "fix-auth-7-2"}) == "fix-auth-7-3"


def test_a_suffix_that_equals_another_issues_name_is_passed_over() -> None:
    other = convoy_name("Fix 7", 2, ())

    assert other == "fix-7-2"
    assert convoy_name("Fix", 7, {"fix-7", other}) == "fix-7-3"


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


@settings(deadline=None, max_examples=20)
@given(TITLES, st.integers(1, 10**6))
def test_git_takes_a_name_as_one_part_of_a_ref(title: str, issue: int) -> None:
    name = convoy_name(title, issue, ())

    ref = f"refs/heads/convoy/{name}/task-1"
    # https://git-scm.com/docs/git-check-ref-format
    assert (
        subprocess.run(
            ["git", "check-ref-format", ref], env={"PATH": "/usr/bin:/bin"}, check=False
        ).returncode
        == 0
    )
    assert "/" not in name
