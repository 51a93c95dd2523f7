"""Which of the tasks that may start goes first when slots are few."""

from convoy.rules.ending import LoseSession
from tests.convoy.room import begins
from tests.world.rules import NAME, Rules, spec


def begun(rules: Rules) -> list[int]:
    return [each.task for each in begins(rules)]


def test_what_was_sent_back_goes_before_all_that_never_began() -> None:
    rules = Rules().planned(spec(1), spec(2), spec(3), max_sessions=1).started(2)
    rules.do(LoseSession(convoy=NAME, task=2, attempt=1, cause="lost", why="gone"))

    assert begun(rules) == [2]


def test_what_most_tasks_wait_for_goes_first_through_any_chain() -> None:
    rules = Rules().planned(
        *(spec(1), spec(2), spec(3, after=(2,)), spec(4, after=(3,))),
        *(spec(5), spec(6, after=(5,))),
        max_sessions=2,
    )

    assert begun(rules) == [2, 5]


def test_else_the_list_decides() -> None:
    rules = Rules().planned(spec(1), spec(2), spec(3), max_sessions=2)

    assert begun(rules) == [1, 2]
