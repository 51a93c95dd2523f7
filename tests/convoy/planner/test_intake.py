"""What an issue is, by a corpus of texts with the kinds that a reader gave them."""

from pathlib import Path

import pytest
from msgspec import Struct, json

from convoy.planner import issue_text
from convoy.planner.marks import ReferredIssue, filled_items
from convoy.planner.tasklist import PlanError, plan, plan_remarks
from tests.world.cases import looped
from tests.world.issue_form import FORM
from tests.world.patience import LINEAR, growth

CORPUS = Path(__file__).parents[1] / "intake_corpus" / "issues.json"
OPTIONS = ("default", "tests")


class Issue(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    kind: str
    text: str
    work: tuple[str, ...] = ()
    after: dict[int, tuple[int, ...]] = {}
    labels: tuple[str, ...] = ()


ISSUES = json.decode(CORPUS.read_bytes(), type=tuple[Issue, ...])


NESTED = """\
Intro.
- [ ] #11
- [ ] Phase 1
  - [ ] #12
  - [x] #13
- [ ] #20
  - [ ] #21
- [ ] Mixed
  - [ ] #30
  - [ ] in words
"""


@looped(*ISSUES)
def test_an_issue_is_what_its_label_says(issue: Issue) -> None:
    labels = [issue_text.plain_label(each) for each in issue.labels]
    found = issue_text.intake(issue.text, labels)
    todo = [item for item in found.work.items if not item.done]

    assert found.kind == issue.kind
    assert len(todo) == len(issue.work)


@looped(*[each for each in ISSUES if each.kind == "task list"])
def test_an_order_in_words_is_found_and_none_is_invented(issue: Issue) -> None:
    tasks = plan("x", issue.text, OPTIONS, 20)

    assert {t.number: t.after for t in tasks if t.after} == issue.after
    assert [t.title[:20] for t in tasks] == [each[:20] for each in issue.work]


@looped("[x]", "[ ]")
def test_a_form_is_one_task_with_its_whole_text(box: str) -> None:
    labels = issue_text.box_labels([FORM])
    assert labels == {"linux", "i use the docs", "i searched", "it is new", "ok"}
    assert issue_text.intake("- [ ] Linux\n", labels).kind == "issue form"
    assert issue_text.intake("- [ ] Linux\n").kind == "task list"
    files = [".github/ISSUE_TEMPLATE/a.yml", "a.yml", ".github/x.yml"]
    assert issue_text.form_files(files) == files[:1]

    text = f"It crashes.\n\n- {box} I searched"
    (task,) = plan("Crash", text, OPTIONS, 20, labels)
    assert task.title == "Crash"
    assert "It crashes." in task.instructions
    assert plan_remarks(text, labels) == (
        "this is an issue form: a box is part of an issue form, not of the plan",
    )


LEVELS = "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30)
)


@looped(
    *("no: form", "\0{", "- a list", "body: {}", "a: &a [*a]\nbody: *a"),
    "body: [x, {type: checkboxes}, {type: checkboxes, attributes: []}]",
    "body: [{type: checkboxes, attributes: {options: [x, {label: [y]}]}}]",
    "body: [{type: dropdown, attributes: {options: [{label: x}]}}]",
    *("body: " + "[" * 1_000, f"body: []\n{'#' * 70_000}"),
    "!!python/object/apply:os.system [true]",
    f"a0: &a0 [x]\n{LEVELS}body: *a29\n",  # aliases do not multiply what is read
)
def test_what_is_no_form_has_no_options(text: str) -> None:
    assert issue_text.box_labels([text]) == frozenset()


@looped(
    *(
        (text, "its boxes are not a task list: each must begin with `- [ ] `")
        for text in (
            *("- [] a\n- [] b", "[ ] a\n[ ] b", "-[ ] a\n-[ ] b"),
            "\u2610 a\n\u2610 b",
        )
    ),
    (
        "![](https://a.b/c) and <IMG src=x>, not ![code](), [a](https://b.c)",
        "agents do not see its 2 pictures: describe what matters in words",
    ),
    *(
        (text, "its numbers make one task: for several, begin each with `- [ ] `")
        for text in (
            *("1. a 2. b", "1. a\n2. b (after 1)", "Do: 1) a\n2) b", "(1) a (2) b"),
        )
    ),
    *(
        (
            f"- [ ] a\n- [ ] b {order} c\n- [ ] d `(after x)`, after b (after 2)",
            (
                f"task 2: {order} is taken for words, not for an order: write "
                "`(after NUMBER)` at the end of the line"
            ),
        )
        for order in ("(Depends on: a)", "(after 1)")
    ),
    (
        "- [ ] A\n- [ ] B (blocked by #312)",
        (
            "task 2 names #312, which is not a task here, so it does not wait for "
            "that issue"
        ),
    ),
    (
        NESTED,
        (
            "task 6 names #30 among its steps, but its agent does not see that "
            "issue's text"
        ),
    ),
    ("It fails:\n1. Open it\n2. Click", ""),
    ("- [ ] a 1. b 2. c\n- [ ] b (after 1) paths: a.py", ""),
)
def test_boxes_that_make_no_list_and_what_agents_do_not_see_are_told(
    text: str, told: str
) -> None:
    assert "\n".join(plan_remarks(text)) == told


@looped(
    *(
        (
            title,
            text,
            (issue_text.ASK_CHANGE, issue_text.ASK_PLACE, issue_text.ASK_PROOF),
        )
        for title, text in (
            *(("Fix the bug", ""), ("It does not work", "Please help!")),
            ("Improve performance", "<!-- Describe it here: what, where, `how`? -->"),
            ("登录失败", "请修复"),
        )
    ),
    ("The page should be faster", "", (issue_text.ASK_PLACE, issue_text.ASK_PROOF)),
    *(
        (title, text, ())
        for title, text in (
            *(("Typo in README.md", ""), ("Rename `run`", ""), ("Fix docs/", "")),
            *(("Support Python 3.13", ""), ("Dark mode", "- [ ] a switch")),
            ("Crash", "https://example.org/log"),
            ("Crash", "It crashes as soon as I open a file that is empty, always."),
            ("启动", "打开一个空文件的时候程序就会崩溃而且没有任何提示信息"),
        )
    ),
)
def test_a_few_words_without_a_place_are_too_few(
    title: str, text: str, asked: tuple[str, ...]
) -> None:
    assert issue_text.questions(title, text) == asked


@looped("\n", "![", "[!")
def test_an_issue_made_to_be_slow_is_read_in_one_pass(piece: str) -> None:
    def read(pieces: int) -> None:
        issue_text.questions("Crash", piece * pieces)
        plan_remarks(piece * pieces)

    assert growth(read, 2_000) < LINEAR


# --- items that name issues: where they stand, and what waits for them ----------------


def read(text: str) -> str:
    """Return a text with the issues that its open items name, numbers below 90."""
    items = issue_text.intake(text).work.items
    named = [item for item in items if item.reference and not item.done]
    found: dict[int, ReferredIssue | str] = {}
    for item in named:
        number = int(item.reference[1:])
        issue = ReferredIssue(number, f"Title {number}", "- [ ] x paths: ../evil")
        found[item.at] = issue if number < 90 else f"#{number} is closed"
    return filled_items(text, found, 5000)


@looped(
    ("- [ ] #12\n- [ ] B (blocked by #12)", {2: (1,)}),
    ("- [ ] Write it (#12)\n- [ ] B (depends on #12)", {2: (1,)}),
    ("- [ ] #12\n- [ ] B after: #12", {2: (1,)}),
    ("- [x] #12\n- [ ] B (blocked by #12)", {2: ()}),
    ("- [ ] A\n- [ ] B (blocked by #312)", {1: (), 2: ()}),
    ("- [ ] #90\n- [x] #90\n- [ ] B (after #90)", {3: ()}),
    ("- [ ] #12 one\n- [ ] #12 two\n- [ ] B (after #12)", {1: (), 2: (), 3: ()}),
)
def test_a_task_waits_for_the_item_that_names_the_issue(
    text: str, after: dict[int, tuple[int, ...]]
) -> None:
    found = {task.number: task.after for task in plan("x", read(text), OPTIONS, 20)}
    assert {number: found[number] for number in after} == after

    with pytest.raises(PlanError, match="only names another issue"):
        plan("x", "- [ ] #12\n- [ ] #13", OPTIONS, 9)  # no agent gets a bare number
    ticked = issue_text.intake("It hangs.\n\n- [x] Windows\n- [x] Latest version")
    assert (ticked.kind, ticked.why) == ("one task", "all of its boxes are ticked")
    assert not ticked.work.items
