"""Why tasks are in their order, and where those at once may collide."""

from convoy.events.plan_events import RequestConvoy
from convoy.model.records import Overlap, Wait
from convoy.rules.plan_changes import LinkTask
from convoy.rules.plans import PlanConvoy
from convoy.views.plan import collision_words, edge_words
from tests.world.rules import NAME, Rules, settings, sha, spec

RISKY = (
    Overlap(one=1, other=2, chance=0.4, files=("a.py", "b.py", "c.py", "d.py")),
    Overlap(one=2, other=3, chance=0.1),
)


def planned() -> Rules:
    """Return the rules with three tasks at once, two pairs of which may collide."""
    return Rules().do(
        RequestConvoy(
            convoy=NAME,
            issue=7,
            title="Fix it",
            text="All of it.",
            by="ann",
            target="main",
            base=sha("0"),
            settings=settings(),
        ),
        PlanConvoy(
            convoy=NAME,
            planner="test",
            tasks=(spec(1), spec(2), spec(3)),
            overlaps=RISKY,
        ),
    )


def test_what_may_collide_is_told_until_it_is_settled_or_in_order() -> None:
    rules = planned()
    assert collision_words(rules.convoy) == (
        "tasks 1 and 2: 40%, in a.py, b.py, c.py and 1 more",
        "tasks 2 and 3: 10%",
    )

    rules.do(LinkTask(convoy=NAME, task=3, on=2, by="bea"))
    assert len(collision_words(rules.convoy)) == 1

    rules.landed(1, sha("a"))
    assert collision_words(rules.convoy) == ()


def test_every_edge_has_its_reason() -> None:
    rules = planned().do(LinkTask(convoy=NAME, task=3, on=2, by="bea"))
    both = spec(4, after=(1, 2), waits=(Wait(2, "both touch a.py"),))

    assert edge_words(rules.task(3).spec) == ("it comes after task 2: bea said so",)
    assert edge_words(both) == (
        "it comes after task 1: the plan says so",
        "it comes after task 2: both touch a.py",
    )
