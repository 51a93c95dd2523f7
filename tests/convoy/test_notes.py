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
from tests.world.rules import Rules, made, sha, spec


def leaves(attempt: int = 1, **left: tuple[str, ...]) -> TaskNoted:
    said = Left(**left)
    return made(TaskNoted, attempt=attempt, notes=said.notes, shared=said.shared)


def test_a_note_reaches_the_task_that_builds_on_it_and_what_is_shared_all() -> None:
    rules = Rules().planned(spec(1), spec(2, after=(1,)), spec(3)).started(1)
    rules.do(leaves(notes=("call it colour",), shared=("tests need LANG=C",)))
    assert rules.ask(leaves(2, notes=("x",))), "only the current one may"
    assert str(rules.ask(leaves())) == "the agent left no notes"
    rules.refused(1).started(1)

    handed = rules.noted(TaskStarted)[-1].handed
    assert handed == ("an earlier attempt at this task: call it colour",)
    rules.accepted(1, sha("a")).offered(1, sha("a"), sha("0")).landed_as(1, sha("a"))
    rules.started(2).started(3)

    *_, second, third = rules.noted(TaskStarted)
    assert second.handed == (
        "task 1 (Task 1) changed a.py",
        "task 1 (Task 1): call it colour",
    )
    assert second.plan[:2] == ("1. Task 1 (merged)", "2. Task 2 (queued)")
    assert third.handed == ()
    assert second.scratchpad == third.scratchpad == ("task 1: tests need LANG=C",)


def test_the_scratchpad_forgets_the_oldest_first() -> None:
    pad: tuple[str, ...] = ()
    for number in range(100):
        pad = scratchpad_with(pad, (f"{number} " + "x" * 300,))

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
    secret = Left(notes=(f"use ghp_{'a1B2' * 9}\u202e\nnow",))
    assert bounded_notes(secret).notes == ("use *** now",)
