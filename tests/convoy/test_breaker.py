"""Too many attempts in a row without work stop everything, until a person looks."""

from convoy.events.people_events import ConvoyPaused, ConvoyResumed
from convoy.owed import Pause
from convoy.owed.sessions import TOO_MANY
from convoy.rules.ending import RefuseWork
from convoy.rules.people import RetryTask
from tests.convoy.room import begins, due
from tests.world.rules import NAME, Rules, made, sha, spec


def failing(times: int, attempts: int = 9) -> Rules:
    """Let the first task's attempts fail so often in a row."""
    rules = Rules().planned(spec(1), spec(2), attempts=attempts, failures=3)
    for _ in range(times):
        rules.started(1).do(
            made(
                RefuseWork,
                attempt=rules.task(1).started,
                cause="failed",
                why="the model knows no such key",
            )
        )
    return rules


def owed(rules: Rules) -> tuple[list[Pause], list[int]]:
    """Return what is to pause, and the tasks that are to start."""
    pauses = [each for each in due(rules) if isinstance(each, Pause)]
    return pauses, [each.task for each in begins(rules)]


def test_so_many_failures_in_a_row_pause_everything_and_start_nothing() -> None:
    assert owed(failing(2)) == ([], [1, 2])

    pause = Pause(NAME, TOO_MANY.format(3), tell=True)
    assert owed(failing(3)) == ([pause], [])


def test_what_pauses_once_is_not_paused_again_and_a_person_lets_it_go_on() -> None:
    rules = failing(3)
    rules.do(ConvoyPaused(convoy=NAME, by="brat", why=TOO_MANY.format(3)))
    assert owed(rules) == ([], [])

    rules.do(ConvoyResumed(convoy=NAME, by="ann"))
    assert rules.state.failures == 0
    assert owed(rules) == ([], [1, 2])


def test_the_last_attempt_of_a_task_counts_a_retry_and_work_begin_anew() -> None:
    rules = failing(1, attempts=1)
    assert (rules.task(1).state, rules.state.failures) == ("blocked", 1)

    rules.do(RetryTask(convoy=NAME, task=1, by="ann"))
    assert rules.state.failures == 0
    assert failing(2).started(2).accepted(2, sha("b")).state.failures == 0
