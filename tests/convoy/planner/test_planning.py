"""An engine plans: its sessions follow the rules of all sessions, and then some."""

from msgspec.structs import replace

from convoy.events.session_events import TaskStarted
from convoy.model.state import Task
from convoy.rules.ending import AcceptWork, RefuseWork
from convoy.rules.plans import PlanConvoy
from convoy.rules.starting import StartTask
from tests.convoy.room import why
from tests.world.rules import NAME, Rules, made, requested, settings, sha, spec


def asked(**given: object) -> Rules:
    return Rules().do(requested(settings=settings(planner="default", **given)))


def begun(rules: Rules) -> Rules:
    return rules.do(made(StartTask, task=0, brief="Plan.", now=rules.now))


def again(now: int) -> StartTask:
    return made(StartTask, task=0, brief="Plan.", session="6" * 32, now=now)


def mayor(rules: Rules) -> Task:
    assert rules.convoy.mayor is not None
    return rules.convoy.mayor


REFUSED = made(RefuseWork, task=0, cause="refused", why="no JSON")
EARLY = PlanConvoy(convoy=NAME, planner="task list", tasks=(spec(1),))


def test_a_plan_ends_its_session_and_begins_the_tasks() -> None:
    rules = begun(asked())
    tasks = (spec(1), spec(2, after=(1,)))
    rules.do(PlanConvoy(convoy=NAME, planner="engine default", tasks=tasks, attempt=1))

    assert rules.noted(TaskStarted)[0].brief == "Plan."
    assert (mayor(rules).state, mayor(rules).attempt) == ("merged", None)
    assert rules.convoy.state == "active"
    assert rules.convoy.task(0) is None
    assert rules.states == ["queued", "queued"]


def test_when_all_attempts_are_spent_the_list_takes_over() -> None:
    rules = begun(asked()).do(REFUSED)
    assert (mayor(rules).state, mayor(rules).notes) == ("queued", ("no JSON",))
    assert mayor(begun(rules)).started == 2

    rules = begun(asked(attempts=1)).do(REFUSED)
    blocked = mayor(rules).state
    rules.do(EARLY)

    assert (blocked, mayor(rules).state) == ("blocked", "dropped")
    assert rules.convoy.state == "active"


def test_nobody_plans_past_the_engine_that_is_to_plan() -> None:
    rules = begun(asked())

    assert asked().ask(EARLY)
    assert rules.ask(EARLY)
    assert rules.ask(made(AcceptWork, task=0, commit=sha("a"), files=()))
    assert why(rules.ask(again(rules.now))) == "task 0 waits for nothing: it is running"
    assert rules.do(REFUSED).ask(replace(EARLY, attempt=1))


def test_planning_waits_for_a_vendor_that_sent_it_away() -> None:
    sent_away = replace(REFUSED, cause="outage", now=1_000_000, asked_s=600.0)
    rules = begun(asked()).do(sent_away)
    until = mayor(rules).not_before

    assert until >= 1_600_000
    assert "waits for the model's vendor until" in why(rules.ask(again(until - 1)))
    assert rules.ask(again(until)) is None
