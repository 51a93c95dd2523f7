"""What waits for a person, and what that person is told to do."""

from convoy.commands import BlockTask, TakeLease
from convoy.interventions import SLACK_S, interventions
from tests.world.rules import NAME, Rules, spec


def kinds(rules: Rules, now: int | None = None) -> list[str]:
    return [found.kind for found in interventions(rules.state, now or rules.now)]


def test_a_blocked_task_says_how_it_is_tried_again_or_given_up() -> None:
    rules = Rules().planned(spec(1), spec(2))
    rules.do(BlockTask(convoy=NAME, task=2, why="no CI"))
    [found] = interventions(rules.state, rules.now)

    assert (found.kind, found.task, found.why) == ("blocked_task", 2, "no CI")
    assert found.commands == (
        "brat task retry 2 --convoy fix-7",
        "brat task drop 2 --convoy fix-7",
    )
    assert found.comments == ("/brat retry task-2", "/brat drop task-2")


def test_a_session_is_stuck_only_after_its_deadline_and_some_slack() -> None:
    rules = Rules().planned(spec(1)).started(1)
    attempt = rules.task(1).attempt
    assert attempt is not None
    deadline = attempt.at + (1800 + SLACK_S) * 1000

    assert kinds(rules, deadline) == []
    assert kinds(rules, deadline + 1) == ["stuck_session"]


def test_a_persons_lease_that_keeps_a_task_waiting_is_shown() -> None:
    rules = Rules().planned(spec(1, paths=("src/",)), spec(2))
    take = TakeLease(
        resource="path:src/", holder="ann", nonce="n", ttl_s=60, now=rules.now
    )
    rules.do(take)
    [found] = interventions(rules.state, rules.now)

    assert found.kind == "lock_conflict"
    assert found.comments == ("/brat unlock path:src/",)
    assert kinds(rules, rules.now + 60_000) == []


def test_a_lease_of_another_session_waits_for_nobody() -> None:
    rules = Rules().planned(spec(1, paths=("src/",)), spec(2, paths=("src/a.py",)))

    assert kinds(rules.started(1)) == []


def test_a_damaged_log_comes_first() -> None:
    rules = Rules().planned(spec(1))
    rules.do(BlockTask(convoy=NAME, task=1, why="no CI"))
    found = interventions(rules.state, rules.now, ("abc: bad hash", "def: bad id"))

    assert [each.kind for each in found] == ["log_damaged", "blocked_task"]
    assert found[0].why == "the log has a fault: abc: bad hash, and 1 more"
