"""Which of the tasks that may start goes first when slots are few."""

from convoy.model import ids
from convoy.owed import Begin, Patience
from convoy.owed.owed import owed_actions
from convoy.rules.ending import LoseSession
from convoy.rules.verdict import Observed
from tests.world.rules import NAME, Rules, sha, spec


def begins(rules: Rules) -> list[int]:
    observed = Observed(refs={ids.HEADS + f"convoy/{NAME}/base": sha("0")})
    owed = owed_actions(rules.state, observed, Patience(), rules.now)
    return [each.task for each in owed if isinstance(each, Begin)]


def test_what_was_sent_back_goes_before_all_that_never_began() -> None:
    rules = Rules().planned(spec(1), spec(2), spec(3), max_sessions=1).started(2)
    rules.do(LoseSession(convoy=NAME, task=2, attempt=1, cause="lost", why="gone"))

    assert begins(rules) == [2]


def test_what_most_tasks_wait_for_goes_first_through_any_chain() -> None:
    rules = Rules().planned(
        *(spec(1), spec(2), spec(3, after=(2,)), spec(4, after=(3,))),
        *(spec(5), spec(6, after=(5,))),
        max_sessions=2,
    )

    assert begins(rules) == [2, 5]


def test_else_the_list_decides() -> None:
    rules = Rules().planned(spec(1), spec(2), spec(3), max_sessions=2)

    assert begins(rules) == [1, 2]
