"""A task's parts as a model writes them: checked like a plan, and within the task."""

import json
from typing import Any

import pytest

from convoy.answers import split_brief, split_parts
from convoy.model.records import TaskSpec
from convoy.model.state import Convoy, Task
from convoy.planner.plan_reader import House
from convoy.text import Unfit
from tests.world.cases import looped
from tests.world.rules import Rules, spec

Specs = tuple[TaskSpec, ...]
HOUSE = House(
    files=("src/a.py", "src/b.py", "docs/x.md"), engines=("default",), limit=4
)
WHOLE = spec(2, after=(1,), paths=("src/",), needs=("port:80",))


def step(**given: object) -> dict[str, Any]:
    return {"title": "Do it", "instructions": "Do it well.", **given}


def convoy(*more: TaskSpec) -> tuple[Convoy, Task]:
    rules = Rules().planned(spec(1), WHOLE, *more)
    return rules.convoy, rules.task(2)


def split(
    *steps: dict[str, Any], more: tuple[TaskSpec, ...] = ()
) -> tuple[TaskSpec, ...]:
    return split_parts(json.dumps({"tasks": steps}), HOUSE, *convoy(*more))


def test_parts_are_numbered_behind_all_and_wait_for_what_the_whole_waited_for() -> None:
    first, second = split(
        step(paths=["src/a.py"]), step(creates=["src/c.py"], after=[1])
    )

    assert (first.number, first.after, first.part_of) == (3, (1,), 2)
    assert (second.number, second.after, second.part_of) == (4, (1, 3), 2)
    assert first.needs == ("port:80",)


def test_parts_wait_for_what_shares_a_path_and_is_still_to_be_done() -> None:
    other = spec(3, paths=("src/a.py",))
    first, second = split(
        step(paths=["src/a.py"]), step(paths=["src/b.py"]), more=(other,)
    )

    assert first.after == (1, 3)
    assert second.after == (1,)


@looped(
    ([step(paths=["src/a.py"])], "has 1 task; at least 2 are needed."),
    (
        [step(paths=["src/a.py"]), step(paths=["docs/x.md"])],
        'Task 2: the path "docs/x.md" is not among those of task 2: src/.',
    ),
    (
        [step(paths=["src/a.py"]), step(creates=["src2/x"])],
        'the path "src2/x" is not among',
    ),
    ([step(), step(engine="no")], 'there is no engine "no"'),
    ([step()] * 5, "The plan has 5 tasks; 4 are allowed."),
)
def test_what_is_no_split_is_told_so(steps: list[dict[str, Any]], told: str) -> None:
    with pytest.raises(Unfit) as caught:
        split(*steps)
    assert told in str(caught.value)


def test_a_task_that_declared_nothing_may_touch_anything() -> None:
    rules = Rules().planned(spec(1))
    text = json.dumps({"tasks": [step(paths=["src/"]), step(paths=["docs/"])]})
    found = split_parts(text, HOUSE, rules.convoy, rules.task(1))
    assert [each.paths for each in found] == [("src/",), ("docs/",)]
    assert "touch nothing but" not in split_brief(rules.task(1))
    assert "They touch nothing but: `src/`." in split_brief(convoy()[1])
