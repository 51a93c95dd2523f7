"""Whom a convoy needs, and when people are called for it: once, not again and again."""

from convoy.owed import Call
from convoy.rules.ending import RefuseWork
from convoy.rules.people import (
    BlockTask,
    CallPeople,
    DropTask,
    FailConvoy,
    RetryTask,
    uncalled,
)
from tests.convoy.room import due
from tests.world.rules import NAME, Rules, made, sha, spec


def planned(**given: object) -> Rules:
    return Rules().planned(spec(1), spec(2), spec(3, after=(2,)), attempts=1, **given)


def failed(rules: Rules, number: int) -> Rules:
    """Let the task's only attempt fail."""
    refuse = made(
        RefuseWork, task=number, attempt=rules.task(number).started + 1, cause="failed"
    )
    return rules.started(number).do(refuse)


def called(rules: Rules) -> list[str]:
    """Call people for what waits; return the keys of that."""
    calls = [each for each in due(rules, {}) if isinstance(each, Call)]
    for call in calls:
        rules.do(CallPeople(convoy=call.convoy, text="Help.", now=rules.now))
    return [need.key for call in calls for need in call.needs]


def test_people_are_called_once_until_they_did_it() -> None:
    rules = failed(planned(), 1)
    assert called(rules) == ["blocked/1/1"]
    assert called(rules) == []

    failed(rules, 2)
    assert called(rules) == [], "they were called, and see the second there"
    rules.do(RetryTask(convoy=NAME, task=1, by="ann"))
    assert called(rules) == ["blocked/2/1"]
    failed(rules, 1)
    assert called(rules) == []


def test_what_a_person_did_calls_nobody() -> None:
    rules = planned()
    rules.do(BlockTask(convoy=NAME, task=1, why="cancelled by ann", by="ann"))
    rules.do(DropTask(convoy=NAME, task=2, why="dropped by ann"))
    assert rules.task(3).state == "blocked"
    assert called(rules) == []

    rules.do(FailConvoy(convoy=NAME, why="cancelled by ann", by="ann"))
    assert called(rules) == []


def test_a_convoy_that_fails_by_itself_and_work_to_be_approved_call() -> None:
    assert called(planned().started(1)) == [], "everything goes on"

    rules = planned().do(FailConvoy(convoy=NAME, why="it conflicts with main"))
    assert called(rules) == ["failed"]
    assert called(rules) == []

    rules = planned(approvals=1).started(1).accepted(1, sha("b"))
    assert called(rules) == [f"approve/1/{sha('b')[:10]}"]
    assert not uncalled(rules.state, rules.convoy)
