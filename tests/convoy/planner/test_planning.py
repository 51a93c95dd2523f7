"""An engine plans: its sessions follow the rules of all sessions, and then some."""

from msgspec.structs import replace

from convoy.events import Refusal, decided
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


def mayor(rules: Rules) -> Task:
    assert rules.convoy.mayor is not None
    return rules.convoy.mayor


def refused(attempt: int) -> RefuseWork:
    return made(RefuseWork, task=0, attempt=attempt, cause="refused", why="no JSON")


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
    rules = begun(asked()).do(refused(1))
    assert (mayor(rules).state, mayor(rules).notes) == ("queued", ("no JSON",))
    assert mayor(begun(rules)).started == 2

    rules = begun(asked(attempts=1)).do(refused(1))
    blocked = mayor(rules).state
    rules.do(PlanConvoy(convoy=NAME, planner="task list", tasks=(spec(1),)))

    assert (blocked, mayor(rules).state) == ("blocked", "dropped")
    assert rules.convoy.state == "active"


def test_nobody_plans_past_the_engine_that_is_to_plan() -> None:
    early = PlanConvoy(convoy=NAME, planner="task list", tasks=(spec(1),))
    rules = begun(asked())
    work = made(AcceptWork, task=0, commit=sha("a"), files=())
    again = made(StartTask, task=0, brief="Plan.", session="6" * 32, now=rules.now)

    assert isinstance(decided(early, asked().state), Refusal)
    for command in (early, work):
        assert isinstance(decided(command, rules.state), Refusal)
    assert why(rules.ask(again)) == "task 0 waits for nothing: it is running"
    late = replace(early, attempt=1)
    assert isinstance(decided(late, rules.do(refused(1)).state), Refusal)


def test_planning_waits_for_a_vendor_that_sent_it_away() -> None:
    sent_away = replace(refused(1), cause="outage", now=1_000_000, asked_s=600.0)
    rules = begun(asked()).do(sent_away)
    until = mayor(rules).not_before
    early, late = (
        made(StartTask, task=0, brief="P", session="6" * 32, nonce="m", now=now)
        for now in (until - 1, until)
    )

    assert until >= 1_600_000
    assert "waits for the model's vendor until" in why(rules.ask(early))
    assert rules.ask(late) is None
