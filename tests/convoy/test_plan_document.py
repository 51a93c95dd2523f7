"""The plan as people sign it: what each task does, and what nobody does."""

from msgspec.structs import replace

from convoy.model.records import Wait
from convoy.rules.plans import LinkTask
from convoy.views.plan import edge_words, plan_document
from tests.world.rules import NAME, Rules, spec


def test_every_edge_has_its_reason_and_a_dropped_task_is_gone() -> None:
    waits = (Wait(1, "both touch src/"),)
    tasks = (spec(1), spec(2, after=(1,), waits=waits))
    convoy = Rules().planned(*tasks, approve="plan").convoy
    document = plan_document(convoy)
    assert document.tasks[1].waits[0].why == "both touch src/"
    assert "`/brat approve` here" in document.approval
    assert "/brat approve" in plan_document(replace(convoy, tasks=())).approval
    assert plan_document(replace(convoy, state="active")).approval == ""
    gone = replace(convoy, tasks=(replace(convoy.tasks[0], state="dropped"),))
    assert plan_document(gone).tasks == ()

    rules = Rules().planned(spec(1), spec(2), spec(3))
    rules.do(LinkTask(convoy=NAME, task=3, on=2, by="bea"))
    both = spec(4, after=(1, 2), waits=(Wait(2, "both touch a.py"),))

    assert edge_words(rules.task(3).spec) == ("it waits for task 2: bea requested it",)
    assert edge_words(both) == (
        "it waits for task 1: the plan says so",
        "it waits for task 2: both touch a.py",
    )
