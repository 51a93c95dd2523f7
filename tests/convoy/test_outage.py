"""An outage of the model's vendor costs a task time, and nothing else."""

from hypothesis import given, strategies as st

from convoy.events.people_events import ConvoyPaused, ConvoyResumed
from convoy.model.records import EngineSpec
from convoy.model.session_result import (
    LONGEST_ASKED_S,
    LONGEST_WAIT_S,
    OUTAGES_MOST,
    wait_ms,
)
from convoy.owed import Begin, Pause
from convoy.owed.owed import TOO_MANY
from tests.convoy.room import begins, due
from tests.world.rules import NAME, Rules, sha, spec

WHY = "The vendor's rate limit was reached: too many requests."


def outage(rules: Rules, asked_s: float = 0.0) -> Rules:
    """End the running attempt of task 1 by an outage."""
    return rules.refused(1, "outage", why=WHY, now=rules.now, asked_s=asked_s)


def test_its_slot_is_not_given_to_another_task_until_it_has_waited() -> None:
    engines = {"default": EngineSpec(type="shell", args=("true",), max_sessions=1)}
    rules = Rules().planned(spec(1), spec(2), engines=engines).started(1)
    until = outage(rules, asked_s=60).task(1).not_before

    for now, starts in ((until - 1, False), (until, True)):
        found = due(rules, now=now)
        assert any(isinstance(action, Begin) for action in found) == starts
    why = rules.reasons(2)
    slots = "the engine default has no free slot (limit: 1; waiting for its vendor: 1)"
    assert why[1] == slots


def test_an_outage_costs_no_attempt_and_without_end_they_come_to_a_person() -> None:
    rules = outage(Rules().planned(spec(1), attempts=1).started(1))
    for _ in range(OUTAGES_MOST):
        assert rules.task(1).spent == 0
        rules.now = max(rules.now, rules.task(1).not_before)
        outage(rules.started(1))

    task = rules.task(1)
    assert (task.state, task.started) == ("blocked", OUTAGES_MOST + 1)
    assert task.why == f"{OUTAGES_MOST + 1} attempts could not reach a model: {WHY}"

    again = rules.retried(1).task(1)
    assert (again.outages, again.not_before) == (0, 0)


@given(st.text(max_size=40), st.integers(1, 10_000), st.floats())
def test_a_wait_is_bounded_and_always_the_same(
    session: str, outages: int, asked_s: float
) -> None:
    wait = wait_ms(session, outages, asked_s)

    assert 0 <= wait <= 1000 * (LONGEST_ASKED_S + LONGEST_WAIT_S)
    assert wait == wait_ms(session, outages, asked_s)


def test_waits_of_many_sessions_spread_over_the_whole_of_their_time() -> None:
    waits = sorted(wait_ms(f"{n:032x}", 3, 0) for n in range(1000))

    assert waits[100] < 20_000
    assert 55_000 < waits[500] < 65_000
    assert 100_000 < waits[900] < waits[-1] < 120_000


# --- too many attempts in a row without work stop everything --------------------------


def failing(times: int, attempts: int = 9) -> Rules:
    """Let the first task's attempts fail so often in a row."""
    rules = Rules().planned(spec(1), spec(2), attempts=attempts, failures=3)
    for _ in range(times):
        rules.started(1).refused(1, why="the model knows no such key")
    return rules


def owed(rules: Rules) -> tuple[list[Pause], list[int]]:
    pauses = [each for each in due(rules) if isinstance(each, Pause)]
    return pauses, [each.task for each in begins(rules)]


def test_so_many_failures_in_a_row_pause_everything_and_start_nothing() -> None:
    assert owed(failing(2)) == ([], [1, 2])

    rules, pause = failing(3), Pause(NAME, TOO_MANY.format(3), tell=True)
    assert owed(rules) == ([pause], [])
    rules.do(ConvoyPaused(convoy=NAME, by="brat", why=TOO_MANY.format(3)))
    assert owed(rules) == ([], [])

    rules.do(ConvoyResumed(convoy=NAME, by="ann"))  # a person lets it go on
    assert rules.state.failures == 0
    assert owed(rules) == ([], [1, 2])

    rules = failing(1, attempts=1)  # the last attempt of a task counts, too
    assert (rules.task(1).state, rules.state.failures) == ("blocked", 1)
    assert rules.retried(1).state.failures == 0
    assert failing(2).started(2).accepted(2, sha("b")).state.failures == 0
