from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from convoy.events import Command
from convoy.events.forge_actions import ActionDone, Answer
from convoy.events.leases import StartBot
from convoy.events.people_events import ConvoyPaused, ConvoyResumed
from convoy.events.plan_events import SettingsTaken
from convoy.events.task_events import ConvoyFailed
from convoy.kinds.rivals import RIVALS_MOST
from convoy.model import ids
from convoy.model.records import EngineSpec, TaskSpec
from convoy.rules.ending import AcceptNothing, AcceptWork, LoseSession, RefuseWork
from convoy.rules.people import BlockTask, DropTask
from convoy.rules.plans import PlanConvoy
from convoy.rules.retries import RetryTask
from convoy.rules.starting import StartTask
from tests.convoy.room import refused, why, with_task
from tests.world.cases import looped
from tests.world.rules import (
    ACTOR,
    NAME,
    Rules,
    made,
    requested,
    settings,
    sha,
    spec,
    startable,
)


def start(number: int) -> StartTask:
    return made(StartTask, task=number, session="ab" * 16, now=0)


def test_a_task_starts_only_when_all_it_needs_is_merged() -> None:
    rules = Rules().planned(spec(1), spec(2, after=(1,)))
    dropped = with_task(rules.state, 1, "dropped").convoys[NAME]

    assert "waits for task 1 (queued)" in why(rules.ask(start(2)))
    assert not startable(dropped, rules.task(2))
    rules.landed(1, sha("a")).do(ConvoyPaused(convoy=NAME, by="ann"))
    assert "paused" in why(rules.ask(start(2)))
    rules.do(ConvoyResumed(convoy=NAME, by="ann"))

    assert rules.ask(start(2)) is None


def test_tasks_whose_paths_overlap_do_not_run_together() -> None:
    rules = Rules().planned(spec(1, paths=("src/",)), spec(2, paths=("src/a.py",)))
    rules.started(1)

    assert "task 1 to land first (both touch src/a.py)" in why(rules.ask(start(2)))
    rules.accepted(1, sha("a")).offered(1, sha("a"), sha("0"))
    assert "task 1 to land first (both touch src/a.py)" in why(rules.ask(start(2)))
    rules.landed_as(1, sha("a"))

    assert rules.ask(start(2)) is None


RIVALS = tuple(spec(number, kind="rival") for number in (1, 2, 3))
MANY = tuple(spec(number, kind="rival") for number in range(1, RIVALS_MOST + 2))
CHOICE = spec(4, kind="choice", on=(1, 2, 3))
TESTS, CODE = spec(1, kind="tests"), spec(2, on=(1,))


def reviewed(**review: Any) -> tuple[TaskSpec, ...]:  # noqa: ANN401  a task's fields
    return spec(1), spec(2, kind="review", **review), spec(3, after=(2,))


@looped(
    ([spec(1, after=(7,))], "task 1 needs task 7, which is not in the plan"),
    ([spec(1, after=(2,)), spec(2, after=(1,))], "in a cycle: 1, 2, 1"),
    ([spec(1, engine="gpt")], "task 1 uses an unknown engine, gpt"),
    ([spec(2), spec(1)], "in ascending order"),
    ([], "at least one task"),
    # a review that could never be
    (reviewed(), "task 2 must review one task of kind work"),
    (reviewed(on=(2,)), "task 2 must review one task of kind work"),
    (reviewed(on=(1,), after=(3,)), "in a cycle: 1, 3, 2, 1"),
    (reviewed(on=(1,), after=(1,)), "in a cycle: 1, 1"),
    ((spec(1), CODE), "task 2 needs one task of kind tests"),
    # tests that could never land
    ((TESTS,), "one task of kind work must build on the tests of task 1"),
    ((TESTS, CODE, spec(3, on=(1,))), "one task of kind work must build on the tests"),
    ((TESTS, spec(2, on=(1,), after=(1,))), "waits for tasks that task 1 does not"),
    (
        (TESTS, spec(2, on=(1,), after=(3,)), spec(3)),
        "task 2 waits for tasks that task 1 does not",
    ),
    # a race that could never end
    (RIVALS, "one choice must include rival 1"),
    ((*RIVALS, CHOICE, spec(5, kind="choice", on=(1,))), "one choice must include"),
    ((spec(1), spec(2, kind="choice", on=(1,))), "among 1 to 8 tasks of kind"),
    ((spec(1, kind="choice"),), "task 1 must choose among 1 to 8 tasks"),
    ((*MANY, spec(10, kind="choice", on=tuple(range(1, 10)))), "among 1 to 8 tasks of"),
    ((*RIVALS, CHOICE, spec(5, after=(2,))), "task 2, which might not be chosen"),
    (
        (*RIVALS, replace(CHOICE, after=(5,)), spec(5, after=(4,))),
        "in a cycle: 1, 5, 4, 1",
    ),
)
def test_a_plan_that_could_not_end_is_refused(
    tasks: Sequence[TaskSpec], said: str
) -> None:
    rules = Rules().do(requested(title="t", text=""))
    plan = PlanConvoy(convoy=NAME, planner="test", tasks=tuple(tasks))
    assert said in why(rules.ask(plan))

    unjudged = Rules().do(requested(settings=settings(require_ci=False)))
    told = "task 1 needs a red CI run first, but require_ci is off"
    assert told in why(unjudged.ask(replace(plan, tasks=(TESTS, CODE))))


def test_an_issue_has_one_live_convoy_at_a_time_and_a_name_is_taken_for_ever() -> None:
    rules = Rules().planned(spec(1))
    again = requested(convoy=f"{NAME}-2", title="t", text="")

    assert "not finished" in why(rules.ask(again))
    rules.failed("cancelled")
    assert "already exists" in why(rules.ask(requested(issue=8)))
    assert "is failed" in refused(rules, made(ConvoyFailed)), "an end is an end"
    assert rules.ask(again) is None


def test_a_lost_attempt_is_tried_again_until_all_are_spent_and_if_asked() -> None:
    rules = Rules().planned(spec(1), attempts=2)

    rules.started(1).lost(1)
    assert (rules.task(1).state, rules.task(1).notes) == ("queued", ("it died",))
    rules.started(1)
    assert rules.task(1).notes == ("it died",), "it is told so"
    rules.lost(1, "it died: x\n\na log\nof it")
    stopped = "it died: x (after 2 attempts)\n\na log\nof it"
    assert (rules.task(1).state, rules.task(1).why) == ("blocked", stopped)

    rules.retried(1)
    assert rules.task(1).notes[-1] == stopped
    rules.started(1)
    assert (rules.task(1).state, rules.task(1).started) == ("running", 3)


def test_what_a_person_cannot_do_to_a_task_says_why() -> None:
    rules = Rules().planned(spec(1), spec(2, after=(1,)), spec(3)).landed(3, sha("a"))
    rules.dropped(1)

    for command, told in (
        (
            made(RetryTask, task=2),
            "task 2 needs task 1, which was dropped: drop task 2",
        ),
        (made(BlockTask, task=3), "task 3 is already merged"),
        (made(BlockTask, task=9), "has no task 9"),
        (made(DropTask, task=9), f"{NAME} has no task 9"),
    ):
        assert told in refused(rules, command)


def test_a_superseded_attempt_hands_nothing_in() -> None:
    rules = Rules().planned(spec(1)).started(1).lost(1).started(1)
    late = made(AcceptWork, commit=sha("a"))

    assert "not the current one" in refused(rules, late)
    again = replace(late, attempt=2)
    assert "needs-review, not running" in refused(rules.do(again), again)


def test_an_action_is_noted_done_once_and_a_bot_starts_once() -> None:
    done = ActionDone(key=f"comment:{NAME}", number=5)
    rules = Rules().planned(spec(1)).do(done)

    assert rules.convoy.comment == 5
    assert "not an open action" in refused(rules, done)
    assert "already" in refused(rules, StartBot(actor=ACTOR.hex(), version="0"))


def test_a_late_note_of_a_dispatch_is_not_for_the_next_attempt() -> None:
    rules = Rules().planned(spec(1)).do(start(1))
    begun = rules.task(1).begun_at
    rules.lost(1).do(start(1), ActionDone(key=f"dispatch:{NAME}/1/1", number=5))
    assert rules.task(1).begun_at == begun, "since its first attempt"

    attempt = rules.attempt(1)
    assert (attempt.number, attempt.run) == (2, None)
    never = ActionDone(key="dispatch:of-nothing", number=5)  # nor was it announced
    assert never.change(rules.state) == rules.state


def test_a_changed_configuration_counts_but_for_what_is_frozen() -> None:
    rules = Rules().planned(spec(1), approvals=1, attempts=2)
    engines = {"docs": EngineSpec(type="shell", args=("false",))}
    now = settings(engines=engines, approvals=0, attempts=5, strategy="merge")

    rules.do(SettingsTaken(convoy=NAME, settings=now))

    have = rules.convoy.settings
    assert (have.approvals, have.strategy, have.attempts) == (1, "rebase", 5)
    assert {*have.engines} == {"default", "docs"}  # tasks may still name the old one
    assert rules.ask(SettingsTaken(convoy=NAME, settings=now)) is not None


HASTY = "blocked: two attempts failed in the same way within seconds: "


@looped(
    (("no", 2), ("no", 2), f"{HASTY}no"),
    (("00:09:01 no 77a", 2), ("00:09:12 no 3f2b", 2), f"{HASTY}00:09:12 no 3f2b"),
    (("no", 2), ("other", 2), "queued: other"),
    (("no", 2), ("no", 200), "queued: no"),
)
def test_two_hasty_failures_alike_stop_a_task_and_other_two_do_not(
    first: tuple[str, int], second: tuple[str, int], told: str
) -> None:
    rules = Rules().planned(spec(1), attempts=5)
    for said, seconds in (first, second):
        rules.started(1).refused(1, why=said, now=rules.now + seconds * 1000)

    assert f"{rules.task(1).state}: {rules.task(1).why}" == told


# --- a task that is given up while its session runs: the session still has to end -----


GIVEN_UP = (
    ConvoyFailed(convoy=NAME, why="cancelled by ann"),
    DropTask(convoy=NAME, task=1, why="not wanted"),
    BlockTask(convoy=NAME, task=1, why="no disk"),
)
FIRST: dict[str, Any] = {"convoy": NAME, "task": 1, "attempt": 1}
ENDS = (
    AcceptWork(**FIRST, commit=sha("a"), base=sha("0"), files=()),
    AcceptNothing(**FIRST),
    RefuseWork(**FIRST, cause="refused", why="a symlink"),
    LoseSession(**FIRST, cause="lost", why="it died"),
)


@looped(*ENDS)
@looped(*GIVEN_UP)
def test_what_is_given_up_while_it_runs_ends_without_a_trace(
    give_up: Command, end: Command
) -> None:
    rules = Rules().planned(spec(1, needs=("port:80",)), spec(2)).started(1)
    rules.do(give_up)
    given_up = rules.task(1)
    assert list(rules.state.running()) == [(rules.convoy, given_up)]
    assert rules.state.leases, "its session still holds it"

    rules.do(end)

    assert rules.task(1) == replace(
        given_up, attempt=None, worked_ms=rules.task(1).worked_ms
    )
    assert not rules.state.leases
    assert "not running" in why(rules.ask(end))


def test_the_next_attempt_waits_for_the_end_of_the_one_before() -> None:
    rules = Rules().planned(spec(1)).started(1).do(GIVEN_UP[2]).retried(1)

    assert "waits for its previous session to end" in refused(rules, start(1))
    assert rules.do(ENDS[3]).task(1).state == "queued"
    assert rules.ask(start(1)) is None


# --- whatever people say is answered once ---------------------------------------------


TICK = Answer(issue=7, sign=ids.sign_key("tick", "72D3162E-CC78"), text="Done.")
REVIEW = Answer(issue=12, sign=ids.sign_key("review", "3"), text="Done.")
REMARK = Answer(issue=7, comment=5, reaction="rocket", text="Done.")


@looped(TICK, REVIEW, REMARK)
def test_an_answer_is_announced_and_given_once(answer: Answer) -> None:
    rules = Rules().do(answer)
    [key] = rules.state.intents
    assert "already" in refused(rules, answer)

    rules.do(ActionDone(key=key, number=99))

    assert not rules.state.intents
    assert "already" in refused(rules, answer)


def test_a_tick_is_not_taken_for_a_comment() -> None:
    rules = Rules().do(TICK, ActionDone(key=TICK.sign, number=99))

    assert rules.state.answered == frozenset()
    assert rules.state.heard == {"answer:tick/72d3162e-cc78"}
    with pytest.raises(ValueError, match="cannot be part of a key"):
        ids.sign_key("tick", "a b -->")
