from msgspec.structs import replace

from convoy.events.people_events import TaskHeard, TaskTold
from convoy.model.records import EngineSpec
from convoy.rules.plans import AddTask, AssignTask, LinkTask
from tests.convoy.room import refused
from tests.world.rules import NAME, Rules, made, requested, sha, spec

TWO = {name: EngineSpec(type="shell") for name in ("default", "docs")}


def add(number: int, **given: object) -> AddTask:
    return made(AddTask, spec=spec(number, **given), by="bea")


def link(task: int, on: int) -> LinkTask:
    return made(LinkTask, task=task, on=on, by="bea")


def assign(task: int | None, engine: str) -> AssignTask:
    return AssignTask(convoy=NAME, task=task, engine=engine, by="bea")


def test_a_task_is_added_behind_the_others_if_it_can_be_carried_out() -> None:
    rules = Rules().planned(spec(1), spec(2), tasks=3)
    for task, told in (
        (add(2), "2 is not the next task number"),
        (add(3, after=(9,)), "task 9, which is not in the plan"),
        (add(3, engine="docs"), "task 3 uses an unknown engine, docs"),
    ):
        assert told in refused(rules, task)
    rules.dropped(2)
    assert "task 2 was dropped" in refused(rules, add(3, after=(2,)))

    rules.do(add(3, after=(1,)))

    assert rules.task(3).spec.after == (1,)
    assert rules.task(3).state == "queued"
    assert refused(rules, add(4)) == "a convoy may have at most 3 tasks"
    rules = Rules().planned(spec(1)).landed(1, sha("a"))
    assert "is landing" in refused(rules, add(2))
    early = AddTask(convoy="late-8", spec=spec(1), by="bea")
    rules.do(requested(convoy="late-8", issue=8))
    assert refused(rules, early) == "late-8 has no plan yet"


def test_a_linked_task_waits_and_a_link_that_makes_no_sense_is_refused() -> None:
    rules = Rules().planned(spec(1), spec(2)).do(link(1, 2))
    assert not rules.startable(1)
    assert rules.landed(2, sha("a")).startable(1)

    rules = Rules().planned(spec(1), spec(2, after=(1,)), spec(3), spec(4))
    rules.dropped(3).started(4)

    for senseless, told in (
        (link(1, 2), "tasks wait for each other in a cycle: 1, 2, 1"),
        (link(1, 1), "tasks wait for each other in a cycle: 1, 1"),
        (link(2, 1), "task 2 already waits for task 1"),
        (link(1, 3), "task 3 is already dropped"),
        (link(1, 9), "fix-7 has no task 9"),
        (link(9, 1), "fix-7 has no task 9"),
        (link(4, 1), "task 4 is running; it is too late to change it"),
    ):
        assert refused(rules, senseless) == told


def test_a_task_is_given_to_another_engine() -> None:
    rules = Rules().planned(spec(1), spec(2), engines=TWO).do(assign(2, "docs"))
    assert [task.spec.engine for task in rules.convoy.tasks] == ["default", "docs"]
    assert refused(rules, assign(2, "docs")) == "task 2 already uses the engine docs"
    said = refused(rules, assign(1, "dosc"))
    assert "there is no engine dosc" in said
    assert said.endswith("did you mean docs?")

    rules = Rules().planned(spec(1), spec(2), spec(3), engines=TWO).started(1)
    rules.do(assign(None, "docs"))  # all that have not started
    engines = [task.spec.engine for task in rules.convoy.tasks]
    assert engines == ["default", "docs", "docs"]
    all_have = "every task has already started or uses the engine"
    assert all_have in refused(rules, assign(None, "docs"))
    assert "too late" in refused(rules, assign(1, "docs"))


def test_what_is_said_is_for_the_attempt_that_runs_and_for_the_next() -> None:
    tell = made(TaskTold, by="bea", text="Keep the names.")
    heard = made(TaskHeard, messages=1)
    rules = Rules().planned(spec(1)).do(tell).started(1).do(tell, tell)
    not_yet = "its engine has not received 2 of 2 messages"
    assert not_yet in "\n".join(rules.reasons(1))
    assert "its engine has received 1 of 2 messages" in rules.do(heard).reasons(1)

    said = [each.text for each in rules.attempt(1).messages]
    assert said == ["Keep the names."] * 2
    assert rules.task(1).notes == ("bea says: Keep the names.",) * 3
    assert rules.task(1).state == "running"
    for number, messages in ((1, 1), (1, 3), (1, 0), (1, -1), (2, 1)):
        refused(rules, replace(heard, attempt=number, messages=messages))
    settled = Rules().planned(spec(1), spec(2)).landed(1, sha("a"))
    assert refused(settled, tell) == "task 1 is merged"
