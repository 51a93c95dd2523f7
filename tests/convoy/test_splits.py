"""Splits: what was too much for one agent becomes several tasks, once and in order."""

from convoy.events import Refusal
from convoy.events.people_events import ApprovePlan
from convoy.events.session_events import TaskStarted
from convoy.kinds.task_kinds import PARTS_MOST, room_for_parts
from convoy.model.records import EngineSpec, TaskSpec
from convoy.owed import Patience
from convoy.owed.owed import owed_actions
from convoy.rules.ending import LoseSession, RefuseWork
from convoy.rules.people import BlockTask, DropTask, RetryTask, uncalled
from convoy.rules.plan_changes import BeginSplit, SplitTask
from convoy.rules.plans import fault_of
from convoy.rules.starting import startable
from convoy.rules.verdict import Observed
from convoy.views.interventions import interventions
from convoy.views.plan import edge_words
from convoy.views.reasons import reasons, waits_for
from tests.world.cases import looped
from tests.world.rules import NAME, Rules, commands, made, sha, spec

ENGINES = {name: EngineSpec(type="shell") for name in ("default", "planner")}
WHOLE = spec(1, paths=("src/",))
NOBODY = "it is not split: no engine is configured for that ([mayor] engine and split)"
STRANGE = spec(5, part_of=1, engine="no")


def begun(*more: TaskSpec, **given: object) -> Rules:
    """Return a convoy whose first task is tried, with one behind it."""
    chosen = {"engines": ENGINES, "splitter": "planner", "attempts": 1, **given}
    return Rules().planned(WHOLE, spec(2, after=(1,)), *more, **chosen).started(1)


def too_big(*more: TaskSpec, **given: object) -> Rules:
    rules = begun(*more, **given)
    return rules.do(made(RefuseWork, cause="refused", why="Too big.", splits=True))


def splitting(*more: TaskSpec, **given: object) -> Rules:
    rules = too_big(*more, **given)
    number = len(rules.convoy.tasks) + 1
    return rules.do(BeginSplit(convoy=NAME, task=1)).started(number)


def part(number: int, **given: object) -> TaskSpec:
    return spec(number, part_of=1, **given)


def parted(*parts: TaskSpec, split: int = 3) -> SplitTask:
    attempt = 1
    return SplitTask(convoy=NAME, task=split, attempt=attempt, parts=parts)


def owed(rules: Rules) -> list[BeginSplit]:
    refs = {f"refs/heads/convoy/{NAME}/base": sha("0")}
    actions = owed_actions(rules.state, Observed(refs=refs), Patience(), rules.now)
    return commands(actions, BeginSplit)


def test_what_was_too_much_is_split_and_nobody_is_called_meanwhile() -> None:
    rules = too_big()
    assert rules.task(1).state == "blocked"
    assert owed(rules) == [BeginSplit(convoy=NAME, task=1)]
    assert uncalled(rules.state, rules.convoy) == ()
    assert interventions(rules.state, rules.now) == ()

    rules.do(BeginSplit(convoy=NAME, task=1))
    assert owed(rules) == []
    assert isinstance(rules.ask(BeginSplit(convoy=NAME, task=1)), Refusal)
    assert startable(rules.convoy, rules.task(3))
    told = "task 3 to split it: 1 attempt did not land; the last: Too big."
    assert waits_for(rules.convoy, rules.task(1)) == told
    why = reasons(rules.state, rules.convoy, rules.task(1), rules.now)
    assert "task 3 splits it into smaller ones" in why
    rules.started(3)
    started = [fact for fact in rules.facts if isinstance(fact, TaskStarted)][-1]
    assert (started.kind, started.base) == ("plan", sha("0"))
    assert started.instructions.endswith("the last: Too big.")
    assert uncalled(rules.state, rules.convoy) == ()


def test_what_waited_for_it_waits_for_all_its_parts() -> None:
    rules = splitting().do(parted(part(4), part(5, after=(4,))))

    states = {task.number: task.state for task in rules.convoy.tasks}
    assert states == {1: "dropped", 2: "queued", 3: "merged", 4: "queued", 5: "queued"}
    assert rules.task(1).why == "it was split: 4, 5"
    assert rules.task(2).spec.after == (4, 5)
    assert edge_words(rules.task(2).spec) == (
        "it waits for task 4: it is a part of task 1",
        "it waits for task 5: it is a part of task 1",
    )
    ready = [t.number for t in rules.convoy.tasks if startable(rules.convoy, t)]
    assert ready == [4]


def test_a_part_is_not_split_again() -> None:
    rules = splitting().do(parted(part(4), part(5))).started(4)
    rules.do(made(RefuseWork, task=4, cause="refused", why="Big.", splits=True))

    assert owed(rules) == []
    assert isinstance(rules.ask(BeginSplit(convoy=NAME, task=4)), Refusal)
    assert [need.task for need in uncalled(rules.state, rules.convoy)] == [4]
    why = reasons(rules.state, rules.convoy, rules.task(4), rules.now)
    assert "it is a part of task 1: a part is not split again" in why


@looped(
    RefuseWork(convoy=NAME, task=3, attempt=1, cause="refused", why="No plan."),
    LoseSession(convoy=NAME, task=3, attempt=1, cause="lost", why="No plan."),
)
def test_where_no_plan_comes_a_person_is_asked_after_all(
    end: RefuseWork | LoseSession,
) -> None:
    rules = splitting().do(end)

    assert [rules.task(n).state for n in (1, 3)] == ["blocked", "dropped"]
    assert rules.task(1).why == (
        "1 attempt did not land; the last: Too big.; it was not split: 1 attempt did "
        "not land; the last: No plan."
    )
    assert [need.task for need in uncalled(rules.state, rules.convoy)] == [1]
    assert owed(rules) == []
    rules.do(RetryTask(convoy=NAME, task=1, by="ann")).started(1)
    again = made(RefuseWork, attempt=2, cause="refused", why="Big.", splits=True)
    assert owed(rules.do(again)) == []


def test_an_agent_that_will_not_split_is_taken_at_its_word() -> None:
    rules = too_big().do(BeginSplit(convoy=NAME, task=1))
    rules.do(BlockTask(convoy=NAME, task=3, why="One key is missing."))

    assert [rules.task(n).state for n in (1, 3)] == ["blocked", "dropped"]
    assert rules.task(1).why.endswith("it was not split: One key is missing.")


def test_a_person_may_do_otherwise_while_it_is_being_split() -> None:
    rules = splitting().do(RetryTask(convoy=NAME, task=1, by="ann"))
    assert [rules.task(n).state for n in (1, 3)] == ["queued", "dropped"]
    assert rules.task(3).why == "task 1 is tried again as it is"
    rules.do(parted(part(4), part(5)))
    assert rules.task(3).attempt is None
    assert len(rules.convoy.tasks) == 3

    rules = splitting().do(DropTask(convoy=NAME, task=1, why="by ann"))
    assert [rules.task(n).state for n in (1, 2, 3)] == ["dropped", "blocked", "dropped"]
    assert rules.task(3).why == "task 1, which it was to split, is dropped"

    rules = splitting().do(DropTask(convoy=NAME, task=3, why="by ann"))
    assert [need.task for need in uncalled(rules.state, rules.convoy)] == [1]


@looped(({"splitter": ""}, NOBODY), ({"tasks": 2}, "it waits for a person"))
def test_where_nobody_splits_it_waits_for_a_person(
    given: dict[str, object], told: str
) -> None:
    rules = too_big(**given)

    assert owed(rules) == []
    assert [need.task for need in uncalled(rules.state, rules.convoy)] == [1]
    assert told in reasons(rules.state, rules.convoy, rules.task(1), rules.now)


def test_what_others_are_tied_to_is_not_split() -> None:
    assert owed(too_big(spec(3, kind="review", on=(1,)))) == []


def test_what_stopped_for_another_reason_is_not_split() -> None:
    rules = begun().do(
        RefuseWork(convoy=NAME, task=1, attempt=1, cause="failed", why="No luck.")
    )
    assert owed(rules) == []
    rules = begun().do(BlockTask(convoy=NAME, task=1, why="no", by="ann"))
    assert owed(rules) == []


def test_a_task_goes_on_being_tried_while_it_has_attempts() -> None:
    assert too_big(attempts=2).task(1).state == "queued"


def test_money_that_is_spent_is_a_reason_of_a_tasks_own() -> None:
    rules = begun().do(
        BlockTask(convoy=NAME, task=1, why="Its budget is spent.", splits=True)
    )
    assert owed(rules) == []  # its session has not ended
    rules.do(LoseSession(convoy=NAME, task=1, attempt=1, cause="lost", why="it died"))
    assert owed(rules) == [BeginSplit(convoy=NAME, task=1)]


def test_a_plan_that_people_are_to_see_waits_for_them() -> None:
    settings = {"engines": ENGINES, "splitter": "planner", "attempts": 1}
    rules = Rules().planned(WHOLE, spec(2), approve="plan", **settings)
    rules.do(ApprovePlan(convoy=NAME, by="ann")).started(1)
    rules.do(BlockTask(convoy=NAME, task=1, why="Too big.", splits=True))
    rules.do(LoseSession(convoy=NAME, task=1, attempt=1, cause="lost", why="it died"))
    rules.do(BeginSplit(convoy=NAME, task=1)).started(3)
    rules.do(parted(part(4), part(5)))

    assert rules.convoy.state == "paused"
    assert rules.convoy.why.startswith("task 1 was split (4, 5): review the parts")
    [found] = interventions(rules.state, rules.now)
    assert found.kind == "kept_back"


@looped(
    ((part(4),), "task 1 must be split into at least 2 parts"),
    ((part(4), part(6)), "parts must be numbered upwards from 4"),
    ((part(4), spec(5)), "all of them must be parts of task 1"),
    (
        (part(4), part(5, after=(2,))),
        "the tasks wait for each other in a circle: (2, 5, 2)",
    ),
    ((part(4), STRANGE), "task 5 has the unknown engine no"),
)
def test_parts_that_could_never_be_are_refused(
    parts: tuple[TaskSpec, ...], told: str
) -> None:
    assert splitting().ask(parted(*parts)) == Refusal(told)


def test_a_split_is_of_one_task_that_is_work() -> None:
    told = fault_of(begun().convoy, (spec(1, kind="report"), spec(2, kind="split")))
    assert told == "task 2 splits one task that is work"


def test_there_is_room_for_so_many_parts() -> None:
    assert room_for_parts(too_big().convoy) == PARTS_MOST
    assert room_for_parts(too_big(tasks=5).convoy) == 4
