"""Why tasks are in their order."""

from convoy.model.records import Wait
from convoy.rules.plan_changes import LinkTask
from convoy.rules.plans import PlanConvoy
from convoy.views.plan import edge_words
from tests.world.rules import NAME, Rules, made, requested, spec


def planned() -> Rules:
    return Rules().do(
        requested(), made(PlanConvoy, planner="test", tasks=(spec(1), spec(2), spec(3)))
    )


def test_every_edge_has_its_reason() -> None:
    rules = planned().do(LinkTask(convoy=NAME, task=3, on=2, by="bea"))
    both = spec(4, after=(1, 2), waits=(Wait(2, "both touch a.py"),))

    assert edge_words(rules.task(3).spec) == ("it waits for task 2: bea requested it",)
    assert edge_words(both) == (
        "it waits for task 1: the plan says so",
        "it waits for task 2: both touch a.py",
    )
