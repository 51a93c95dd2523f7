"""A model's plan: what is taken, what is told back, and what never comes through."""

import json
from typing import Any

import pytest

from convoy.model.records import TaskSpec, Wait
from convoy.planner import ANSWER_CHARS
from convoy.planner.plan_reader import House, read_plan
from convoy.text import Unfit
from tests.world.cases import looped

FILES = ("README.md", "src/auth/tokens.py", "src/api.py", "tests/test_api.py")
HOUSE = House(files=FILES, engines=("default", "tests"), limit=5)


def step(**given: object) -> dict[str, Any]:
    return {"title": "Do it", "instructions": "Do it well.", **given}


def plan(*steps: dict[str, Any]) -> tuple[TaskSpec, ...]:
    return read_plan(json.dumps({"tasks": steps}), HOUSE)


def faults(*steps: dict[str, Any]) -> tuple[str, ...]:
    with pytest.raises(Unfit) as caught:
        plan(*steps)
    return caught.value.faults


def test_a_plan_becomes_tasks() -> None:
    first, second = plan(
        step(
            creates=["src/auth/jwt.py"],
            why="The base of it.",
            acceptance=" pytest -q tests ",
        ),
        step(paths=["tests/"], after=[1], engine="tests", needs=["port:5432"]),
    )

    assert (first.number, first.paths) == (1, ("src/auth/jwt.py",))
    assert (first.why, first.acceptance) == ("The base of it.", "pytest -q tests")
    assert (second.after, second.engine) == ((1,), "tests")
    assert second.needs == ("port:5432",)


@looped(
    'Here it is:\n```json\n{"tasks": [%s]}\n```\nBRAT: done planned it',
    '```\n{"tasks": []}\n```\nNo, rather:\n```json\n{"tasks": [%s]}\n```',
    'I think {"tasks": [%s]}',
)
def test_a_plan_is_found_in_a_message(text: str) -> None:
    assert len(read_plan(text % json.dumps(step()), HOUSE)) == 1


def test_a_folder_is_found_with_its_slash_and_without_and_so_is_a_new_one() -> None:
    one, two = plan(step(paths=["src/auth"]), step(paths=["src/auth/"]))
    assert (one.paths, two.paths) == (("src/auth",), ("src/auth/",))
    assert two.after == (1,)

    _, two = plan(step(creates=["lib/"]), step(paths=["lib/jwt.py"]))
    assert two.waits == (Wait(1, "task 1 creates lib/"),)


@looped(
    ({"acceptance": "true\nfalse"}, "more than one line"),
    ({"paths": ["src/nope.py"]}, '"src/nope.py" does not exist, and no task creates'),
    ({"creates": ["../evil"]}, 'the path "../evil" must not contain ".."'),
    ({"needs": ["rm -rf"]}, "must be port:NUMBER"),
    ({"engine": "test"}, 'there is no engine "test"; configured: default, tests'),
    ({"after": [7]}, "it cannot wait for task 7"),
    ({"after": [1]}, "it cannot wait for task 1"),
    ({"shell": "rm -rf /"}, "Task 1: shell: Extra inputs are not permitted."),
    ({"instructions": ""}, "Task 1: instructions: String should have at least 1"),
    ({"title": 3}, "Task 1: title: Input should be a valid string."),
    ({"title": "x" * 121}, "Task 1: title: String should have at most 120 char"),
    ({"instructions": "x" * 100_000}, "instructions: String should have at most"),
    ({"paths": ["README.md"] * 51}, "paths: Tuple should have at most 50 items"),
    ({"paths": "README.md"}, "paths: Input should be a valid tuple."),
    ({"after": [1.5]}, "after.0: Input should be a valid integer"),
    ({"creates": ["x/" * 300]}, "must name a file or a folder"),
)
def test_what_is_wrong_is_said_in_one_sentence(
    wrong: dict[str, Any], said: str
) -> None:
    assert said in faults(step(**wrong))[0]


def test_all_faults_are_told_at_once() -> None:
    assert len(plan(*[step()] * HOUSE.limit)) == HOUSE.limit, "so many are allowed"
    told = faults(step(after=[2]), step(after=[1], engine="nope"), *[step()] * 4)

    assert told[0] == "The plan has 6 tasks; at most 5 are allowed."
    assert told[1].startswith('Task 2: there is no engine "nope"')
    assert told[2] == "The tasks wait for each other in a cycle: 1, 2, 1."


@looped(
    ("", "The answer contains no JSON object."),
    ("I could not do it.", "The answer contains no JSON object."),
    ("{'tasks': []}", "The plan is not JSON: "),
    ("{" * 100_000, "The answer contains no JSON object."),
    ("[" * 50_000 + "{}", "The plan is not JSON"),
    ('{"tasks": []}', "tasks: Tuple should have at least 1 item"),
    ("x" * (ANSWER_CHARS + 1), "The plan is longer than 200000 characters."),
)
def test_what_is_no_plan_is_refused(text: str, said: str) -> None:
    if text.startswith("["):
        text = '{"tasks": ' + text
    with pytest.raises(Unfit) as caught:
        read_plan(text, HOUSE)

    assert caught.value.faults[0].startswith(said)


def test_a_secret_in_a_plan_and_what_cannot_be_seen_are_hidden() -> None:
    secret = "ghp_" + "a1B2" * 9
    [task] = plan(step(title=f"Use {secret}", instructions=secret, why=secret))
    assert secret not in f"{task}"

    [task] = plan(step(title="Do\u202e it\x1b[31m\n now", instructions="a\u200bb"))
    assert (task.title, task.instructions) == ("Do it now", "ab")
