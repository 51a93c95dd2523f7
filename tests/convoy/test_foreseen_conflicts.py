"""Work that was seen to conflict with work ahead of it does not hold up the queue."""

from convoy.events import Refusal
from convoy.events.merge_events import ForeseeConflict
from convoy.rules.landing import FailMerge, waiting_to_merge
from convoy.views.reasons import waits_for
from tests.world.rules import NAME, Rules, sha, spec

FORESEEN = ForeseeConflict(
    convoy=NAME, task=2, on=1, work=sha("b"), other=sha("a"), paths=("a.py",)
)


def three() -> Rules:
    """Return a queue of three, whose first is judged."""
    rules = Rules().planned(spec(1), spec(2), spec(3))
    for number, commit in ((1, "a"), (2, "b"), (3, "c")):
        rules.started(number).accepted(number, sha(commit), f"{commit}.py")
    return rules.offered(1, sha("d"), sha("0"))


def queue(rules: Rules) -> list[int]:
    """Return the tasks in the order in which they are to land."""
    return [task.number for task in waiting_to_merge(rules.convoy)]


def test_what_is_behind_it_is_built_and_judged_meanwhile() -> None:
    rules = three()
    assert queue(rules) == [1, 2, 3]

    rules.do(FORESEEN)

    assert queue(rules) == [1, 3]
    said = waits_for(rules.convoy, rules.task(2))
    assert said == "task 1 to land first (both touch a.py)"
    assert isinstance(rules.ask(FORESEEN), Refusal)


def test_it_is_in_the_queue_again_when_the_other_is_out_or_has_other_work() -> None:
    rules = three().do(FORESEEN)

    rules.do(
        FailMerge(convoy=NAME, task=1, candidate=sha("d"), cause="red", why="CI is red")
    )

    assert queue(rules) == [2, 3]
    rules.started(1).accepted(1, sha("e"))
    assert set(queue(rules)) == {1, 2, 3}
