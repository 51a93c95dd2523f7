"""What people are told of a task: what it waits for, and why it is where it is."""

from bot.text.pull_request_texts import task_pull_body
from convoy.events.leases import TakeLease
from convoy.events.people_events import ConvoyPaused
from convoy.events.plan_events import TaskNoted
from convoy.rules.ending import LoseSession
from convoy.rules.people import DropTask
from convoy.views.reasons import reasons, waits_for
from tests.world.rules import NAME, Rules, sha, spec


def why(rules: Rules, number: int) -> tuple[str, ...]:
    return reasons(rules.state, rules.convoy, rules.task(number), rules.now)


def test_each_state_says_what_it_waits_for() -> None:
    rules = Rules().planned(spec(1), spec(2, after=(1,)), spec(3), spec(4), spec(5))
    rules.started(3).started(4).accepted(4, sha("b"))
    rules.do(DropTask(convoy=NAME, task=5, why="not wanted"))
    before = [waits_for(rules.convoy, task) for task in rules.convoy.tasks]
    rules.offered(4, sha("c"), sha("0"))

    assert before == ["a free slot", "task 1", "its session", "the merge queue", ""]
    assert "it waits for task 1: the plan says so" in why(rules, 2)
    rules.do(DropTask(convoy=NAME, task=2, why="not wanted"))
    assert why(rules, 2) == (
        "it is dropped, not tried yet",
        "not wanted",
        "it waited for task 1: the plan says so",
    )
    assert waits_for(rules.convoy, rules.task(4)) == "CI"


def test_a_task_that_is_tried_again_says_why() -> None:
    rules = Rules().planned(spec(1)).started(1)
    lost = LoseSession(convoy=NAME, task=1, attempt=1, cause="lost", why="it died")

    assert waits_for(rules.do(lost).convoy, rules.task(1)) == "a retry: it died"
    assert why(rules, 1) == (
        "it is queued, tried once",
        "its last attempt did not land: it died",
        "it will start in the bot's next round",
    )


def test_what_an_attempt_noted_is_said_with_its_work() -> None:
    notes = ("Left out (nested repository): demo.",)
    rules = Rules().planned(spec(1)).started(1)
    noted = TaskNoted(convoy=NAME, task=1, attempt=1, notes=notes)
    rules.do(noted).accepted(1, sha("b"))

    assert f"an attempt left this note: {notes[0]}" in why(rules, 1)
    assert f"\n- {notes[0]}" in task_pull_body(rules.convoy, rules.task(1))


def test_all_that_keeps_a_task_waiting_is_said() -> None:
    rules = Rules().planned(
        spec(1, paths=("src/",)), spec(2, after=(1,)), max_sessions=1
    )
    take = TakeLease(
        resource="path:src/a.py", holder="ann", nonce="n", ttl_s=60, now=rules.now
    )
    rules.do(take, ConvoyPaused(convoy=NAME, by="ann"))

    assert why(rules, 1) == (
        "it is queued, not tried yet",
        "it is waiting for a person: the convoy is paused",
        (
            "it is waiting for path:src/a.py, which ann holds until "
            "1970-01-01 00:17:43 UTC"
        ),
    )
    assert "it is waiting for task 1 (queued)" in why(rules, 2)


def test_a_running_task_says_since_when_and_until_when_and_then_where_it_landed() -> (
    None
):
    rules = Rules().planned(spec(1), spec(2), max_sessions=1).started(1)

    assert why(rules, 1) == (
        "it is running, tried once",
        "attempt 1 began at 1970-01-01 00:16:45 UTC, run 101",
        "its session must end by 1970-01-01 00:46:45 UTC",
    )
    assert "no session slot is free (limit: 1)" in why(rules, 2)
    rules.accepted(1, sha("a")).offered(1, sha("a"), sha("0")).landed_as(1, sha("a"))
    assert why(rules, 1) == ("it is merged, tried once", "it landed as aaaaaaaaaa")


def test_the_merge_queue_shows_who_is_ahead() -> None:
    rules = Rules().planned(spec(1), spec(2)).started(1).started(2)
    rules.accepted(1, sha("a")).accepted(2, sha("b")).offered(1, sha("c"), sha("0"))

    assert "CI is testing its candidate cccccccccc" in why(rules, 1)
    assert why(rules, 2)[1:] == (
        "ahead of it in the merge queue: task 1",
        "the refinery has not built its candidate yet",
    )
