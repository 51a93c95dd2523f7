"""What is spent stops what would start, never what runs, and a person decides."""

from datetime import UTC, datetime

from msgspec.structs import replace

from convoy.events.session_events import TaskStarted
from convoy.model.records import Budget, EngineSpec, Estimate, Price, Usage
from convoy.model.session_result import estimate_words
from convoy.owed import Begin, MakePlan
from convoy.rules.ending import AcceptNothing, AcceptWork
from convoy.rules.people import BlockTask, DeferTask
from convoy.rules.plans import estimate
from convoy.rules.starting import StartTask, moment
from convoy.views import progress_words
from convoy.views.reasons import convoy_reasons, plan_waits, waits_for
from tests.convoy.room import due, refused
from tests.world.rules import (
    NAME,
    Rules,
    commands,
    made,
    requested,
    settings,
    sha,
    spec,
)

SPENT = "the {0}'s budget of ${1} is used up (${2} so far)"
START = made(StartTask, now=10**13)


def planned(**budget: float) -> Rules:
    return Rules().planned(spec(1), spec(2), attempts=9, budget=Budget(**budget))


def spent(number: int, usd: float, **budget: float) -> Rules:
    """Return rules in which a task's attempt failed and cost so much."""
    return planned(**budget).started(number).refused(number, usage=Usage(usd=usd))


def owed(rules: Rules) -> dict[int, str]:
    """Return why each task is blocked that is to be; empty: it is to start."""
    actions = due(rules)
    blocked = {each.task: each.why for each in commands(actions, BlockTask)}
    starts = {each.task: "" for each in actions if isinstance(each, Begin)}
    assert not blocked.keys() & starts.keys()
    return blocked | starts


def test_a_task_that_has_spent_its_budget_is_blocked_and_others_start() -> None:
    rules = spent(1, 1.25, task=1.0)

    why = SPENT.format("task", "1.00", "1.25")
    assert owed(rules) == {1: why, 2: ""}
    assert f"it is waiting for a person: {why}" in rules.reasons(1)
    assert progress_words(rules.convoy, rules.now).endswith(" · $1.25")
    assert rules.ask(START) is not None


def test_a_convoy_that_has_spent_its_budget_starts_nothing() -> None:
    nothing = SPENT.format("convoy", "0.00", "0.00")
    assert owed(planned(convoy=0.0)) == {1: nothing, 2: nothing}

    rules = planned(convoy=2.0).started(1).started(2).refused(1, usage=Usage(usd=2.0))
    why = SPENT.format("convoy", "2.00", "2.00")
    assert owed(rules) == {1: why}
    rules.blocked(1, why).refused(2, usage=Usage(usd=0.5))
    assert owed(rules) == {2: why.replace("$2.00 so", "$2.50 so")}
    assert progress_words(rules.convoy, rules.now).endswith(" · $2.50 of $2.00")


def test_an_attempt_may_use_no_more_than_is_left() -> None:
    def usd(rules: Rules, start: StartTask = START) -> float | None:
        return rules.do(start).noted(TaskStarted)[-1].limits.usd

    assert usd(planned()) is None
    assert usd(planned(task=1.0, convoy=0.5)) == 0.5
    assert usd(spent(1, 0.25, task=1.0)) == 0.75
    assert usd(unplanned(convoy=0.5), PLAN) == 0.5

    rules = planned(task=1.0).started(1)
    rules.do(made(AcceptWork, commit=sha("a"), usage=Usage(usd=7.0)))
    assert rules.task(1).state == "needs-review", "it was paid for"
    assert owed(rules) == {2: ""}


DAY_MS = 86_400_000


def deferred(rules: Rules) -> dict[int, int]:
    actions = due(rules)
    return {each.task: each.until for each in commands(actions, DeferTask)}


def test_when_the_days_money_is_spent_what_could_start_waits_for_midnight() -> None:
    rules = spent(1, 2.5, day=2.0)
    midnight = (rules.now // DAY_MS + 1) * DAY_MS

    assert owed(rules) == {}
    assert deferred(rules) == {1: midnight, 2: midnight}
    day = f"{datetime.fromtimestamp(midnight / 1000, UTC):%Y-%m-%d}"
    why = (
        f"today's budget of $2.00 is used up ($2.50 so far); it resets at {day} "
        "00:00 UTC"
    )
    told = f"task 1 waits for the next day: {why}"
    assert refused(rules, replace(START, now=rules.now)) == told
    rules.do(DeferTask(convoy=NAME, task=1, until=midnight, why=why))
    task = rules.task(1)
    assert (task.state, task.spent, task.notes) == ("queued", 1, ("no",))
    at = moment(rules.state, rules.now)
    assert waits_for(rules.convoy, task, at) == f"the next day: {why}"
    assert f"it is waiting for the next day: {why}" in rules.reasons(1)
    assert deferred(rules) == {2: midnight}

    rules.now = midnight
    assert owed(rules) == {1: "", 2: ""}
    rules.started(1)


def test_all_spend_of_one_day_and_what_a_person_asks_for_starts_all_the_same() -> None:
    rules = spent(1, 1.5, day=2.0)
    assert owed(rules) == {1: "", 2: ""}
    rules.started(2).refused(2, usage=Usage(usd=0.5))
    assert (owed(rules), rules.state.day_usd) == ({}, 2.0)

    rules = spent(1, 1.0, day=1.0).blocked(1, "look").retried(1)
    assert owed(rules) == {1: ""}
    assert deferred(rules).keys() == {2}


def unplanned(**budget: float) -> Rules:
    """Return a convoy that an engine is to plan."""
    given = settings(planner="default", budget=Budget(**budget))
    return Rules().do(requested(settings=given))


PLAN = made(StartTask, task=0, brief="P", now=10**13)


def test_a_plan_waits_for_the_next_days_money_and_says_so() -> None:
    rules = unplanned(day=1.0)
    today = rules.now // DAY_MS
    rules.state = replace(rules.state, day=today, day_usd=1.0)
    midnight = (today + 1) * DAY_MS

    assert deferred(rules) == {0: midnight}
    why = refused(rules, replace(PLAN, now=rules.now))
    assert "today's budget of $1.00 is used up" in why
    rules.do(DeferTask(convoy=NAME, task=0, until=midnight, why=why))
    assert plan_waits(rules.convoy) == f"waiting: {why}"
    assert f"its plan is waiting: {why}" in convoy_reasons(rules.convoy)
    assert not owed(rules)
    rules.do(replace(PLAN, now=midnight))

    rules = unplanned(convoy=0.0)
    assert rules.ask(PLAN) is not None
    why = SPENT.format("convoy", "0.00", "0.00")
    assert owed(rules) == {0: why}
    found = due(rules.blocked(0, why))
    assert MakePlan(NAME) in found, "the task list is the plan"


def test_an_estimate_is_a_guess_by_price_then_the_median_of_such_tasks() -> None:
    assert planned().convoy.estimate is None, "there is no price"
    price = Price(input=2.0, output=10.0, cached=0.5)
    engines = {"default": EngineSpec(type="codex", price=price)}
    guess = Rules().planned(spec(1), spec(2), engines=engines).convoy.estimate

    # 0.1 million read, 0.4 from the cache and 0.015 written, each twice.
    assert guess == Estimate(usd=1.1)
    assert estimate_words(guess) == (
        "about $1.10 (estimated from the prices of these engines)"
    )

    rules = Rules().planned(*(spec(number) for number in range(1, 5)))
    for number, usd in ((1, 0.5), (2, 9.0), (3, 1.5)):
        used = Usage(usd=usd)
        rules.started(number)
        rules.do(AcceptNothing(convoy=NAME, task=number, attempt=1, usage=used))

    found = estimate(rules.state, rules.convoy, (spec(1), spec(2)))
    assert found == Estimate(usd=3.0, seconds=2, tasks=3)
    assert estimate_words(found) == (
        "about $3.00 and 2 s in sessions (the median of 3 earlier tasks with these "
        "engines)"
    )
