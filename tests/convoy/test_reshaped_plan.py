"""People reshape a plan: one task becomes several, or all is new."""

from msgspec.structs import replace

from bot.text.notices import call_text
from convoy.events.plan_events import ConvoyReplanned, TaskRewritten
from convoy.model.records import Wait
from convoy.rules.calls import uncalled
from convoy.rules.ending import AcceptNothing
from convoy.rules.people import DropTask
from convoy.rules.plans import AddTask, PartTask
from convoy.views.interventions import interventions
from tests.convoy.room import due, refused
from tests.convoy.stories import reshaped
from tests.world.rules import NAME, Rules, commands, made, spec, startable


def drawn() -> Rules:
    return Rules().planned(
        spec(1),
        spec(2, after=(1,)),
        spec(3, paths=("b.py",)),
        spec(4, after=(3,), waits=(Wait(3, "both touch b.py", overlap=True),)),
        approve="plan",
    )


def test_an_old_log_in_which_two_tasks_became_one_is_read() -> None:
    both, rules = spec(2, instructions="Do both."), drawn()

    joined = TaskRewritten(convoy=NAME, task=2, spec=both, by="bea")
    rules.state = joined.change(rules.state)

    assert (rules.task(2).spec, rules.task(2).instructed_by) == (both, ("bea",))


def test_a_task_is_done_in_the_parts_that_a_person_wrote() -> None:
    parts = (spec(5, part_of=3), spec(6, part_of=3, after=(5,), paths=(".github/x",)))
    part = PartTask(convoy=NAME, task=3, parts=parts, by="bea")
    rules = drawn()
    for no_plan in (
        parts[:1],
        (parts[0], spec(7, part_of=3)),
        (parts[0], spec(6, part_of=3, after=(9,))),
    ):
        assert rules.ask(replace(part, parts=no_plan))
    rules.do(part)

    assert rules.task(3).why == "bea split it into tasks 5, 6"
    assert rules.task(4).spec.after == (5, 6)
    assert [rules.task(n).state for n in (5, 6)] == ["queued", "blocked"]
    assert rules.task(5).instructed_by == ("bea",)


def test_a_split_that_an_older_brat_began_is_dropped_and_a_person_is_asked() -> None:
    split = spec(2, kind="split", on=(1,))
    rules = Rules().planned(spec(1), attempts=1).started(1).refused(1, "refused")
    rules.do(AddTask(convoy=NAME, spec=split, by="the mayor")).started(2)
    for _ in range(2):  # its session still has to end
        rules.do(*commands(due(rules), DropTask))
    rules.do(made(AcceptNothing, task=2))

    assert rules.states == ["blocked", "dropped"]
    needs = uncalled(rules.state, rules.convoy)
    assert [need.task for need in needs] == [1]
    [found] = interventions(rules.state, rules.now)
    assert found.comments[-1] == "/brat split task-1 -- LIST"
    told = call_text(rules.convoy, needs)
    assert told.startswith("@ann This convoy needs a decision:")
    assert "say `/brat split 1 -- LIST`" in told
    parts = (spec(3, part_of=1), spec(4, part_of=1))
    rules.do(PartTask(convoy=NAME, task=1, parts=parts, by="bea"))
    assert [task.number for task in rules.convoy.tasks if not task.settled] == [3, 4]


def test_another_plan_is_told_what_people_said() -> None:
    rules = reshaped()
    mayor = rules.convoy.mayor
    assert mayor is not None

    assert mayor.started == 2
    told = mayor.spec.instructions
    assert told.endswith("asked for a different one:\n\nSmaller steps.")
    assert "2. Task 2" in told
    assert rules.convoy.state == "active"

    again = ConvoyReplanned(convoy=NAME, by="bea", text="Smaller.")
    assert "no engine made this plan" in refused(drawn(), again)
    assert rules.ask(again) is not None, "it is approved"
    assert not startable(rules.convoy, mayor)
