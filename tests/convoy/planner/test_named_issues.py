"""Items that name issues: where they stand, what waits for them, what is left out."""

from convoy.planner.issue_text import checklist, intake
from convoy.planner.marks import ReferredIssue, filled_items, missed_work
from convoy.planner.tasklist import plan, plan_remarks
from tests.world.cases import looped

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
ENGINES = ("default",)


def read(text: str) -> str:
    """Return a text with the issues that its open items name, numbers below 90."""
    items = intake(text).work.items
    named = [item for item in items if item.reference and not item.done]
    found: dict[int, ReferredIssue | str] = {}
    for item in named:
        number = int(item.reference[1:])
        issue = ReferredIssue(number, f"Title {number}", "- [ ] x paths: ../evil")
        found[item.at] = issue if number < 90 else f"#{number} is closed"
    return filled_items(text, found, 5000)


def test_boxes_that_only_name_issues_are_items_wherever_they_stand() -> None:
    found = checklist(NESTED)

    assert [(item.lines[0], item.done) for item in found.items] == [
        ("#11", False),
        ("#12", False),
        ("#13", True),
        ("#20", False),
        ("#21", False),
        ("Mixed", False),
    ]
    assert found.around == "Intro.\n\n- [ ] Phase 1"


def test_they_keep_their_places_with_the_text_of_their_issues() -> None:
    tasks = plan("x", read(NESTED), ENGINES, 20)

    assert [(task.number, task.title) for task in tasks] == [
        (1, "Title 11 (#11)"),
        (2, "Title 12 (#12)"),
        (4, "Title 20 (#20)"),
        (5, "Title 21 (#21)"),
        (6, "Mixed"),
    ]
    assert "Phase 1" in tasks[1].instructions
    assert not any(task.paths for task in tasks)


@looped(
    (NESTED, "task 6 names #30 among its steps, but its agent does not see that"),
    (
        "- [ ] A\n- [ ] B (blocked by #312)",
        "task 2 names #312, which is not a task here, so it does not wait for that",
    ),
)
def test_an_issue_that_is_no_task_is_said(text: str, told: str) -> None:
    (said,) = plan_remarks(text)

    assert said.startswith(told)


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
    found = {task.number: task.after for task in plan("x", read(text), ENGINES, 20)}

    assert {number: found[number] for number in after} == after


def test_nobody_waits_for_an_issue_that_is_closed() -> None:
    text = read("- [ ] #90\n- [ ] #12\n- [ ] B (after 1, 2)")

    assert missed_work(intake(text).work.items) == ""
    assert [t.after for t in plan("x", text, ENGINES, 20)] == [(), (2,)]
    assert plan_remarks(text) == ("item 1 is not a task: #90 is closed",)
    elsewhere = "- [x] a/b#1 (left out: a/b#1 is no issue here)\n- [ ] B (after 1)"
    assert missed_work(intake(elsewhere).work.items) == (
        "task 2 waits for item 1: a/b#1 is no issue here"
    )


def test_a_text_whose_boxes_are_all_ticked_is_one_task() -> None:
    found = intake("It hangs on Windows.\n\n- [x] Windows\n- [x] Latest version")

    assert (found.kind, found.why) == ("one task", "all of its boxes are ticked")
    assert not found.work.items
