import pytest
from hypothesis import given, strategies as st

from convoy.model import ids
from tests.world.cases import looped

names = st.from_regex(r"[a-z0-9][a-z0-9-]{0,39}", fullmatch=True)


def test_issues_never_share_an_id() -> None:
    issues = [
        ids.repository_issue(),
        ids.convoy_issue("a"),
        ids.convoy_issue("b"),
        ids.task_issue("a", 1),
        ids.task_issue("a", 11),
    ]

    assert len(set(issues)) == len(issues)
    assert {len(issue) for issue in issues} == {16}


def test_the_repository_issue_is_the_same_in_every_version() -> None:
    assert ids.repository_issue().hex() == "9c4251739694995019415fe120911d2f"


@given(names, st.integers(0, 999_999_999), st.integers(1, 999_999_999))
def test_a_session_is_parsed_as_it_was_named(name: str, task: int, k: int) -> None:
    assert ids.parse_session(ids.session_name(name, task, k)) == (name, task, k)


@looped(
    "text",
    [
        *("", "a", "a/1", "a/1/0", "a/01/1", "A/1/1", "-a/1/1", "a/1/1\n", "a/1/1/1"),
        *("../1/1", f"{'a' * 41}/1/1", "a/-1/1", "a/1/\u0661"),
    ],
)
def test_what_is_no_session_gets_one_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not the name of a session; give .*\.$"):
        ids.parse_session(text)


def test_branches_and_refs_are_spelled_as_the_design_says() -> None:
    assert ids.base_branch("fix-7") == "convoy/fix-7/base"
    assert ids.task_branch("fix-7", 2) == "convoy/fix-7/task-2"
    assert ids.attempt_ref("fix-7", 2, 3) == "refs/grite/attempts/fix-7/2/3"
    assert ids.queue_branch("release/1.x", "abc") == "brat/queue/release--1.x/abc"


def test_a_text_is_found_by_the_keys_it_hides() -> None:
    keys = (
        ids.dispatch_key("fix-7/2/1"),
        ids.pull_key("fix-7", 2),
        ids.comment_key("fix--7"),
    )

    text = "Hello\n" + "\n".join(ids.marker(key) for key in keys) + "\nbye"

    assert ids.keys_in(text) == keys
    assert ids.keys_in("<!-- brat:key= -->") == ()
