"""An issue that says too little is told from a short one that is clear."""

from convoy.planner.issue_text import ASK_CHANGE, ASK_PLACE, ASK_PROOF, questions
from tests.world.cases import looped


@looped(
    ("Fix the bug", ""),
    ("It does not work", "Please help!"),
    ("Improve performance", "<!-- Describe it here: what, where, `how`? -->"),
    ("登录失败", "请修复"),
)
def test_a_few_words_without_a_place_are_too_few(title: str, text: str) -> None:
    assert questions(title, text) == (ASK_CHANGE, ASK_PLACE, ASK_PROOF)


def test_what_is_said_already_is_not_asked() -> None:
    assert questions("The page should be faster", "") == (ASK_PLACE, ASK_PROOF)


@looped(
    ("Typo in README.md", ""),
    ("Rename `run`", ""),
    ("Support Python 3.13", ""),
    ("Dark mode", "- [ ] a switch"),
    ("Crash", "https://example.org/log"),
    ("Fix docs/", ""),
    ("Crash", "It crashes as soon as I open a file that is empty, always."),
    ("启动", "打开一个空文件的时候程序就会崩溃而且没有任何提示信息"),
)
def test_a_short_issue_that_is_clear_is_not_asked_about(title: str, text: str) -> None:
    assert questions(title, text) == ()
