"""The rows of the kinds of task: complete, and true of what the log and plans hold."""

from typing import get_args

from convoy.answers import ANSWERS
from convoy.kinds import KINDS, kind_of
from convoy.kinds.task_kinds import TaskKind
from convoy.model.records import Kind
from convoy.patterns import Step
from tests.world.cases import looped
from tests.world.rules import spec

ROWS = looped(*KINDS.values())


def test_every_kind_that_the_log_can_hold_has_a_row() -> None:
    assert {*KINDS} == {*get_args(Kind), "plan"}
    assert kind_of(spec(0)) is KINDS["plan"]
    assert kind_of(spec(1, kind="scout")) is KINDS["scout"]


@ROWS
def test_what_answers_says_how(row: TaskKind) -> None:
    assert bool(row.answer) == (row.name in ANSWERS)
    if row.answer:
        assert ANSWERS[row.name].none


@ROWS
def test_a_step_of_a_template_may_be_what_its_row_says(row: TaskKind) -> None:
    known = Step.model_json_schema()["properties"]["kind"]["enum"]
    assert (row.name in known) == row.in_templates


@ROWS
def test_what_it_looks_at_can_be_planned(row: TaskKind) -> None:
    if row.target is not None:
        assert row.target.kind in KINDS
        assert not KINDS[row.target.kind].answer
