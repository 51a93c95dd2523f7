"""What agents leave for each other is kept in bounds, and reaches whom it should."""

import pytest
from hypothesis import given, strategies as st

from convoy.events import Refusal, decided
from convoy.events.session_events import TaskStarted
from convoy.model.records import Followup
from convoy.model.session_result import (
    FOLLOWUP_CHARS,
    FOLLOWUPS_MOST,
    LINE_CHARS,
    LINES_MOST,
    SCRATCHPAD_CHARS,
    Left,
    bounded_notes,
    scratchpad_with,
)
from convoy.rules.ending import RefuseWork
from convoy.rules.plan_changes import AddTask, NoteTask
from convoy.views.interventions import further_work, interventions
from tests.convoy.anything import hostile
from tests.world.rules import NAME, Rules, sha, spec


def leaves(task: int, attempt: int = 1, **left: tuple[str, ...]) -> NoteTask:
    return NoteTask(convoy=NAME, task=task, attempt=attempt, left=Left(**left))


def hand_off(rules: Rules) -> TaskStarted:
    return next(f for f in reversed(rules.facts) if isinstance(f, TaskStarted))


def test_a_note_reaches_the_task_that_builds_on_it_and_no_other() -> None:
    rules = Rules().planned(spec(1), spec(2, after=(1,)), spec(3))
    rules.started(1).do(leaves(1, notes=("call it colour",))).accepted(1, sha("a"))
    rules.offered(1, sha("a"), sha("0")).landed_as(1, sha("a"))

    rules.started(2)
    assert hand_off(rules).handed == (
        "task 1 (Task 1) changed a.py",
        "task 1 (Task 1): call it colour",
    )
    assert hand_off(rules).plan[:2] == ("1. Task 1 (merged)", "2. Task 2 (queued)")
    rules.started(3)
    assert hand_off(rules).handed == ()


def test_the_next_attempt_knows_what_the_last_one_noted() -> None:
    rules = Rules().planned(spec(1)).started(1)
    rules.do(leaves(1, notes=("make needs -j1",)))
    rules.do(
        RefuseWork(convoy=NAME, task=1, attempt=1, cause="failed", why="It crashed.")
    )

    rules.started(1)

    said = ("an earlier attempt at this task: make needs -j1",)
    assert hand_off(rules).handed == said


def test_what_is_shared_reaches_every_agent_that_starts_later() -> None:
    rules = Rules().planned(spec(1), spec(2)).started(1)
    rules.do(leaves(1, shared=("tests need LANG=C",)))

    rules.started(2)

    assert hand_off(rules).scratchpad == ("task 1: tests need LANG=C",)


def test_the_scratchpad_forgets_the_oldest_first() -> None:
    pad: tuple[str, ...] = ()
    for number in range(100):
        pad = scratchpad_with(pad, (f"{number} " + "x" * 300,))

    assert pad[-1].startswith("99 ")
    assert SCRATCHPAD_CHARS - 400 < sum(map(len, pad)) <= SCRATCHPAD_CHARS
    assert [int(line.split()[0]) for line in pad] == list(range(100 - len(pad), 100))


def test_a_line_that_is_said_again_stands_once_and_is_new() -> None:
    assert scratchpad_with(("a", "b"), ("a",)) == ("b", "a")


@given(st.lists(hostile, max_size=30).map(tuple))
def test_what_is_left_is_in_bounds_whatever_it_is(lines: tuple[str, ...]) -> None:
    left = bounded_notes(Left(notes=lines, shared=lines, followups=lines))

    assert bounded_notes(left) == left
    assert len(left.notes) <= LINES_MOST
    assert len(left.followups) <= FOLLOWUPS_MOST
    assert all(0 < len(line) <= LINE_CHARS for line in left.shared)
    assert all(len(line) <= FOLLOWUP_CHARS for line in left.followups)
    assert not any("\n" in line for line in left.notes)


def test_a_secret_and_what_cannot_be_seen_are_not_kept() -> None:
    token = "ghp_" + "a1B2" * 9

    left = bounded_notes(Left(notes=(f"use {token}\u202e\nnow",)))

    assert left.notes == ("use *** now",)


def test_only_the_current_attempt_may_leave_something() -> None:
    rules = Rules().planned(spec(1)).started(1)

    assert rules.ask(leaves(1, attempt=2, notes=("x",)))
    assert rules.ask(leaves(1)) == Refusal("the agent noted nothing")


# --- further work ---------------------------------------------------------------------


def test_further_work_is_shown_with_the_command_that_adds_it() -> None:
    rules = Rules().planned(spec(1)).started(1)
    rules.do(leaves(1, followups=("Fix it's docs",)))

    (found,) = interventions(rules.state, rules.now)

    assert found.kind == "further_work"
    assert found.commands == (f"brat task add 'Fix it'\"'\"'s docs' --convoy {NAME}",)
    assert found.comments == ("/brat add -- Fix it's docs",)
    rules.do(AddTask(convoy=NAME, spec=spec(2, title="Fix it's docs"), by="ann"))
    assert tuple(further_work(rules.convoy)) == ()


def test_further_work_becomes_a_task_behind_its_own_where_that_is_wanted() -> None:
    rules = Rules().planned(spec(1), followups="auto").started(1)

    rules.do(leaves(1, followups=("Mend the docs", "Mend the tests")))

    added = [task.spec for task in rules.convoy.tasks[1:]]
    assert [each.number for each in added] == [2, 3]
    assert {(each.after, each.follows) for each in added} == {((1,), 1)}
    assert [task.state for task in rules.convoy.tasks[1:]] == ["queued", "queued"]
    assert tuple(further_work(rules.convoy)) == ()


@pytest.mark.parametrize(
    ("tasks", "follows", "why"),
    [
        (1, 0, "a convoy may have 1 task here"),
        (5, 9, "an agent asked for it that worked on a task which an agent had asked"),
    ],
)
def test_what_may_not_become_a_task_by_itself_is_shown_with_the_reason(
    tasks: int, follows: int, why: str
) -> None:
    rules = Rules().planned(spec(1, follows=follows), followups="auto", tasks=tasks)
    rules.started(1).do(leaves(1, followups=("Mend the docs",)))

    assert len(rules.convoy.tasks) == 1
    (found,) = further_work(rules.convoy)
    assert found.why.startswith(why)


def test_further_work_is_not_kept_where_nobody_asks_for_it() -> None:
    rules = Rules().planned(spec(1), followups="off").started(1)

    refused = decided(leaves(1, followups=("Mend the docs",)), rules.state)

    assert refused == Refusal("the agent noted nothing")
    assert not hand_off(rules).followups


def test_the_same_work_is_named_once_however_often_it_is_seen() -> None:
    rules = Rules().planned(spec(1), spec(2)).started(1).started(2)
    rules.do(leaves(1, followups=("Mend the docs",)))

    assert rules.ask(leaves(2, followups=("Mend the docs",))) is not None
    assert rules.task(1).followups == (Followup(title="Mend the docs"),)
