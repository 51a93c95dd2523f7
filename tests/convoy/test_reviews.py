from typing import Literal

from convoy.answers import DIFF_CHARS, review_brief
from convoy.events.session_events import TaskStarted
from convoy.rules.ending import AcceptReview
from convoy.rules.retries import ReviseTask
from convoy.rules.starting import StartTask
from convoy.text import fence_of, fenced
from tests.convoy.room import question
from tests.world.rules import NAME, Rules, made, sha, spec

REVIEW = spec(2, kind="review", on=(1,), rounds=1)


def begun(**given: object) -> Rules:
    """Return a convoy with work to look at, and a task behind the review."""
    rules = Rules().planned(spec(1), REVIEW, spec(3, after=(2,)), **given)
    return rules.started(1).accepted(1, sha("a"))


def found(
    rules: Rules, verdict: Literal["approve", "changes"], text: str = ""
) -> AcceptReview:
    attempt = rules.task(2).started
    return made(AcceptReview, task=2, attempt=attempt, verdict=verdict, text=text)


def test_a_review_starts_on_work_that_lands_with_it_when_it_is_approved() -> None:
    rules = Rules().planned(spec(1), REVIEW, spec(3, after=(2,)))
    assert not rules.startable(2)
    assert rules.waits(2) == "the work of task 1"

    rules.started(1).accepted(1, sha("a"))
    assert rules.startable(2)
    assert rules.kept(1) == "the review by task 2"
    assert rules.queue == []
    elsewhere = made(StartTask, task=2, session="", nonce="", now=rules.now)
    assert str(rules.ask(elsewhere)) == f"task 2 must start from {sha('a')}"
    rules.started(2, sha("a"))
    started = rules.noted(TaskStarted)[-1]
    assert (started.kind, started.base) == ("review", sha("a"))

    rules.do(found(rules, "approve"))
    assert not rules.startable(2)
    assert rules.waits(2) == "task 1 to land"
    rules.offered(1, sha("a"), sha("0")).landed_as(1, sha("a"))
    assert rules.states == ["merged", "merged", "queued"]
    assert rules.startable(3)


def test_what_is_to_be_changed_goes_back_and_is_looked_at_again() -> None:
    rules = begun().started(2, sha("a"))
    assert rules.ask(found(rules, "changes"))
    rules.do(found(rules, "changes", "No test."))

    writer = rules.task(1)
    assert (writer.state, writer.cause) == ("queued", "changes")
    assert writer.notes == ("the review by task 2 requests changes: No test.",)
    rules.started(1, sha("a")).accepted(1, sha("b")).started(2, sha("b"))
    rules.do(found(rules, "changes", "B."))  # it has had its rounds

    assert (rules.task(1).state, rules.task(2).state) == ("needs-review", "blocked")
    assert rules.task(2).why.startswith("it requests changes again after 1 round;")
    assert rules.kept(1) == "the review by task 2"

    rules.retried(2).started(2, sha("b")).do(found(rules, "changes", "B, still."))
    assert rules.task(1).state == "queued"
    assert rules.dropped(2).task(3).state == "blocked"
    rules.started(1, sha("b")).accepted(1, sha("c"))
    assert rules.kept(1) == ""


def test_work_that_is_approved_may_land_and_the_writers_attempts_are_bounded() -> None:
    rules = begun(attempts=1).started(2, sha("a"))
    writer = rules.do(found(rules, "changes", "A.")).task(1)
    assert (writer.state, writer.why[-18:]) == ("blocked", " (after 1 attempt)")

    rules = begun().started(2, sha("a"))
    rules.do(found(rules, "changes", "No test."))
    rules.started(1, sha("a")).accepted(1, sha("b")).started(2, sha("b"))
    assert rules.do(found(rules, "approve")).kept(1) == ""


def test_a_verdict_that_comes_too_late_says_nothing() -> None:
    rules = begun().started(2, sha("a"))
    rules.do(ReviseTask(convoy=NAME, task=1, by="ann", text="Not so."))
    rules.started(1, sha("a")).accepted(1, sha("b")).do(found(rules, "changes", "A."))
    assert rules.task(1).state == "needs-review"
    assert rules.startable(2)

    rules = begun().started(2, sha("a")).blocked(2, "stopped")
    rules.do(found(rules, "approve"))  # its session ends only now
    assert (rules.task(2).state, rules.task(2).approves) == ("blocked", "")

    rules = begun().started(2, sha("a")).dropped(1)
    assert rules.task(2).state == "dropped"
    assert rules.task(2).why == "it reviews task 1, which was dropped"
    assert rules.task(3).why == "it needs task 2, which was dropped"
    rules.do(found(rules, "approve"))
    assert rules.task(2).attempt is None


def test_a_reviewer_is_told_what_was_asked_and_what_changed() -> None:
    rules = begun()
    told = review_brief(question(rules, 2, {sha("a"): "+ the line"}))
    assert fenced("Task 1\n\nDo it.", fence_of("")) in told
    assert "+ the line" in told
    assert "only the beginning" not in told
    long = question(rules, 2, {sha("a"): "x" * (DIFF_CHARS + 1)})
    assert "only the beginning" in review_brief(long)
