"""What agents leave for each other is kept in bounds, and reaches whom it should."""

from hypothesis import given, strategies as st

from convoy.events.plan_events import TaskNoted
from convoy.events.session_events import TaskStarted
from convoy.model.session_result import (
    LINE_CHARS,
    LINES_MOST,
    SCRATCHPAD_CHARS,
    Left,
    bounded_notes,
    scratchpad_with,
)
from tests.convoy.anything import hostile
from tests.world.rules import NAME, Rules, sha, spec


def leaves(task: int, attempt: int = 1, **left: tuple[str, ...]) -> TaskNoted:
    said = Left(**left)
    return TaskNoted(
        convoy=NAME, task=task, attempt=attempt, notes=said.notes, shared=said.shared
    )


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
    assert rules.ask(leaves(1, attempt=2, notes=("x",))), "only the current one may"
    assert str(rules.ask(leaves(1))) == "the agent left no notes"
    rules.refused(1)

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
    assert scratchpad_with(("a", "b"), ("a",)) == ("b", "a"), "it is new again"


@given(st.lists(hostile, max_size=30).map(tuple))
def test_what_is_left_is_in_bounds_whatever_it_is(lines: tuple[str, ...]) -> None:
    left = bounded_notes(Left(notes=lines, shared=lines))

    assert bounded_notes(left) == left
    assert len(left.notes) <= LINES_MOST
    assert all(0 < len(line) <= LINE_CHARS for line in left.shared)
    assert not any("\n" in line for line in left.notes)


def test_a_secret_and_what_cannot_be_seen_are_not_kept() -> None:
    token = "ghp_" + "a1B2" * 9

    left = bounded_notes(Left(notes=(f"use {token}\u202e\nnow",)))

    assert left.notes == ("use *** now",)
