"""What people are told of a task: what it waits for, and why it is where it is."""

from bot.text.pull_request_texts import task_pull_body
from convoy.events.people_events import ConvoyPaused
from convoy.events.plan_events import TaskNoted
from convoy.views.reasons import waits_for
from tests.world.rules import NAME, Rules, sha, spec


def test_each_state_says_what_it_waits_for() -> None:
    rules = Rules().planned(spec(1), spec(2, after=(1,)), spec(3), spec(4), spec(5))
    rules.started(3).started(4).accepted(4, sha("b"))
    rules.dropped(5, "not wanted")
    before = [waits_for(rules.convoy, task) for task in rules.convoy.tasks]
    rules.offered(4, sha("c"), sha("0"))

    assert before == [
        "a free slot",
        "task 1",
        "its session to end",
        "the merge queue",
        "",
    ]
    assert "it waits for task 1: the plan says so" in rules.reasons(2)
    rules.dropped(2, "not wanted")
    assert rules.reasons(2) == (
        "it is dropped, not tried yet",
        "not wanted",
        "it waited for task 1: the plan says so",
    )
    assert rules.waits(4) == "CI"


def test_a_task_that_is_tried_again_says_why() -> None:
    notes = ("Left out (nested repository): demo.",)
    noted = TaskNoted(convoy=NAME, task=1, attempt=1, notes=notes)
    rules = Rules().planned(spec(1)).started(1).do(noted).lost(1)

    assert rules.waits(1) == "a retry: it died"
    said = f"an attempt left this note: {notes[0]}"
    assert rules.reasons(1) == (
        "it is queued, tried once",
        "its last attempt did not land: it died",
        "it will start in the bot's next round",
        said,
    )
    rules.started(1).accepted(1, sha("b"))
    assert said in rules.reasons(1)
    assert f"\n- {notes[0]}" in task_pull_body(rules.convoy, rules.task(1))


def test_all_that_keeps_a_task_waiting_is_said() -> None:
    rules = Rules().planned(
        spec(1, paths=("src/",)), spec(2, after=(1,)), max_sessions=1
    )
    rules.locked("path:src/a.py").do(ConvoyPaused(convoy=NAME, by="ann"))

    assert rules.reasons(1) == (
        "it is queued, not tried yet",
        "it is waiting for a person: the convoy is paused",
        (
            "it is waiting for path:src/a.py, which ann holds until "
            "1970-01-01 00:17:43 UTC"
        ),
    )
    assert "it is waiting for task 1 (queued)" in rules.reasons(2)

    rules = Rules().planned(spec(1), spec(2), max_sessions=1).started(1)
    assert rules.reasons(1) == (
        "it is running, tried once",
        "attempt 1 began at 1970-01-01 00:16:45 UTC, run 101",
        "its session must end by 1970-01-01 00:46:45 UTC",
    )
    assert "no session slot is free (limit: 1)" in rules.reasons(2)
    rules.accepted(1, sha("a")).offered(1, sha("a"), sha("0")).landed_as(1, sha("a"))
    assert rules.reasons(1) == ("it is merged, tried once", "it landed as aaaaaaaaaa")
