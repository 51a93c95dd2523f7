from convoy.answers import ANSWERS
from convoy.kinds import KINDS, kind_of
from convoy.kinds.task_kinds import TaskKind
from convoy.patterns import Step
from tests.world.cases import looped
from tests.world.rules import spec


@looped(*KINDS.values())
def test_a_row_is_true_of_answers_templates_and_what_it_looks_at(row: TaskKind) -> None:
    assert kind_of(spec(0 if row.name == "plan" else 1, kind=row.name)) is row
    assert bool(row.answer) == (row.answer in ANSWERS)
    if row.answer:
        assert ANSWERS[row.answer].none
    known = Step.model_json_schema()["properties"]["kind"]["enum"]
    assert (row.name in known) == row.in_templates
    if row.target is not None:
        assert not KINDS[row.target.kind].answer
