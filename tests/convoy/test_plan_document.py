"""The plan as people sign it: what each task does, and what nobody does."""

from msgspec.structs import replace

from convoy.model.records import Scope, Wait
from convoy.planner.ground import Ground, absent_paths, scopes
from convoy.rules.plans import LinkTask
from convoy.views.plan import edge_words, plan_document
from tests.world.rules import NAME, Rules, spec


def test_a_task_says_what_it_makes_and_what_is_protected() -> None:
    tasks = (
        spec(1, paths=("src/a.py", "src/new.py", ".github/workflows/ci.yml")),
        spec(2, instructions="Say in CLAUDE.md how tests run.", paths=("b.py",)),
        spec(3, paths=("src/",), after=(2,), acceptance="make test"),
    )
    files = ("src/a.py", "b.py", "old/new.py", ".github/workflows/ci.yml")
    ground = Ground(files=files)
    found = scopes(tasks, ground)
    assert found == (Scope(task=1, creates=("src/new.py",)),)
    (said,) = absent_paths(found, ground)
    assert said.startswith("task 1 names src/new.py, which does not exist")
    assert said.endswith("; did you mean old/new.py?")
    convoy = replace(Rules().planned(*tasks).convoy, scopes=found)
    one, two, three = plan_document(convoy).tasks

    assert (one.creates, one.protected) == (
        ("src/new.py",),
        (".github/workflows/ci.yml",),
    )
    assert two.protected == ("CLAUDE.md",)
    assert [(wait.on, wait.why) for wait in three.waits] == [(2, "the plan says so")]
    assert (three.acceptance, three.protected) == ("make test", ())


def test_approval_is_said_before_there_is_a_plan_and_not_after_it() -> None:
    convoy = Rules().planned(spec(1), approve="plan").convoy

    assert "`/brat approve` here" in plan_document(convoy).approval
    assert "/brat approve" in plan_document(replace(convoy, tasks=())).approval
    assert plan_document(replace(convoy, state="active")).approval == ""


def test_every_edge_has_its_reason_and_a_dropped_task_is_gone() -> None:
    waits = (Wait(1, "both touch src/"),)
    convoy = Rules().planned(spec(1), spec(2, after=(1,), waits=waits)).convoy
    assert plan_document(convoy).tasks[1].waits[0].why == "both touch src/"
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
