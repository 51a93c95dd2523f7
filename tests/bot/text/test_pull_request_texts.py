"""The convoy's own pull request is what a reviewer needs."""
# ruff: noqa: E501  snapshots are as people read them

from inline_snapshot import snapshot
from msgspec.structs import replace

from bot.text import merge_texts
from bot.text.merge_texts import TEXT_CHARS, ci_is_red, end_of
from bot.text.pull_request_texts import convoy_pull_body, pull_title
from convoy.model.records import GivenPull
from convoy.rules.ending import AcceptNothing, LoseSession
from convoy.rules.landing import LandMerge
from convoy.rules.people import DropTask
from convoy.text import inline
from tests.bot.text.test_convoy_comment import HOSTILE
from tests.world.rules import NAME, Rules, made, sha, spec

WEB = "https://github.com/pat/project"


def landed(
    rules: Rules,
    number: int,
    commit: str,
    *files: str,
    judged: tuple[str, ...] = ("ci",),
) -> Rules:
    """Start a task, take in a change of these files, and land it."""
    rules.started(number).accepted(number, commit, *files)
    rules.offered(number, commit, rules.convoy.base)
    land = LandMerge(convoy=NAME, task=number, candidate=commit, judged=judged)
    return rules.do(land)


def whole() -> Rules:
    rules = Rules().planned(
        spec(1), spec(2), spec(3, title=HOSTILE), spec(4), spec(5, title="Dream")
    )
    landed(rules, 1, sha("a"), "docs/api.md")
    rules.started(2).do(made(LoseSession, task=2, cause="lost"))
    landed(rules, 2, sha("b"), "auth/tokens.py", "pyproject.toml")
    landed(rules, 3, sha("c"), "words.py", "tests/test_words.py")
    rules.started(4).do(AcceptNothing(convoy=NAME, task=4, attempt=1))
    return rules.do(DropTask(convoy=NAME, task=5, why="too early"))


def test_tasks_come_with_change_and_evidence() -> None:
    rules = whole()

    assert pull_title(rules.convoy, None) == "Fix it (convoy fix-7)"
    assert convoy_pull_body(rules.convoy, WEB) == snapshot("""\
<!-- brat:key=pull:fix-7/0 -->
Convoy `fix-7` for #7: 4 of 5 tasks merged. This pull request is the one to review. The tasks are listed in the order of their commits.

| # | Task | Change | Why it was accepted |
|---|---|---|---|
| 1 | Task 1 | [1 file](https://github.com/pat/project/compare/0000000000000000000000000000000000000000...aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa): docs/api.md | CI was green on `aaaaaaaaaa`, #11 |
| 2 | Task 2 | [2 files](https://github.com/pat/project/compare/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb): auth/tokens.py, pyproject.toml | CI was green on `bbbbbbbbbb`, #12, attempt 2 |
| 3 | Done! \\| merged \\| \\[x](http://evil) !\\[i](u) \\`c\\` &lt;img src=x> \\*\\*b\\*\\* \\_u\\_ \\~\\~s\\~\\~ \\\\ @\u200bann &amp;#\u200b64;bob #\u200b7 &amp;#\u200b35;8 &lt;!-- brat:key=denied:7 --> #\u200b Heading | [2 files](https://github.com/pat/project/compare/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb...cccccccccccccccccccccccccccccccccccccccc): words.py, tests/test\\_words.py | CI was green on `cccccccccc`, #13 |
| 4 | Task 4 | no change was needed | the agent reported that there was nothing to do, and the acceptance command passed |

**Not covered by tests**, judging by the changed files:

- task 2: auth/tokens.py, pyproject.toml

**Not included:**

- Dream: too early

<sub>`brat report fix-7` shows the full report.</sub>\
""")

    text = convoy_pull_body(rules.convoy)
    assert "https:" not in text, "without a page to link to, commits are named"
    assert f"`{'a' * 10}...{'b' * 10}`" in text

    text = convoy_pull_body(rules.convoy, WEB, "https://brat.example/ann/app")
    link = f"https://brat.example/ann/app/convoys/{NAME}"
    assert f"<sub>[History]({link}). `brat report {NAME}` shows" in text


def test_what_no_ci_judged_is_said_and_tests_that_another_task_wrote_count() -> None:
    rules = Rules().planned(spec(1), require_ci=False)
    text = convoy_pull_body(landed(rules, 1, sha("a"), "a.py", judged=("none",)).convoy)
    assert f"not tested: `{'a' * 10}`" in text

    rules = Rules().planned(spec(1), spec(2, after=(1,)), spec(3))
    landed(rules, 1, sha("a"), "a.py")
    landed(rules, 2, sha("b"), "tests/test_a.py")
    landed(rules, 3, sha("c"), "b.py")
    text = convoy_pull_body(rules.convoy)

    assert "- task 3: b.py" in text
    assert "- task 1: a.py" not in text


# --- what is told of CI's text: its last whole lines, as they were written ------------


def test_a_text_is_told_from_a_whole_line_on_after_what_failed() -> None:
    short = "unit: failure\n\n  assert 1 == 2\n"
    assert end_of(short) == short
    assert ci_is_red("a" * 40, "two\n") == "CI is red on aaaaaaaaaa: two"
    text = "FAILED tests/test_a.py::test_b - no\n1 failed in 0.1s\n"
    assert ci_is_red("a" * 40, text) == (
        f"CI is red on aaaaaaaaaa: tests/test_a.py::test_b\n\n{text}"
    )

    lines = [f"{number:>8} of many lines" for number in range(1_000)]

    told = end_of("\n".join(lines)).split("\n")

    assert len("\n".join(told)) <= TEXT_CHARS
    assert told == lines[-len(told) :]
    assert end_of("a" * (TEXT_CHARS + 5)) == "a" * TEXT_CHARS


def test_a_title_does_nothing_in_a_pull_request_or_the_message_of_its_merge() -> None:
    given = GivenPull(number=7, head=sha("a"), branch="b", author="ann", lands=True)
    title = "Fixes GH-7 [skip ci], closes https://github.example/a/b/issues/3 @ann"
    shown = title.replace("GH", "issue GH").replace("[skip ci]", "(skip ci)")
    shown = shown.replace("closes", "closes issue").replace("@", "@ ")
    convoy = Rules().planned(spec(1, title=title)).convoy

    assert pull_title(convoy, convoy.tasks[0]) == shown
    assert inline(title).startswith("Fixes issue GH-7 ")
    said = merge_texts.task_landing(convoy, convoy.tasks[0], "rebase")
    assert said.startswith(shown)
    convoy = replace(convoy, given=given, title=title)
    assert merge_texts.landing_message(convoy, "merge")[1] == shown
    trailer = replace(convoy, title="Release-As: 9.0.0")
    assert merge_texts.landing_message(trailer, "merge")[1] == "Release-As 9.0.0"
