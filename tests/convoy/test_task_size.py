"""A task that is too large is split before it is tried, or said to be too large."""

from msgspec.structs import replace

from convoy.events.plan_events import RequestConvoy
from convoy.model.records import EngineSpec, Scope
from convoy.model.work import Work
from convoy.owed import Patience
from convoy.owed.owed import owed_actions
from convoy.planner import task_points, task_size
from convoy.rules.people import uncalled
from convoy.rules.plan_changes import BeginSplit
from convoy.rules.plans import PlanConvoy
from convoy.rules.verdict import Observed
from convoy.views.estimates import untested
from tests.world.rules import NAME, Rules, commands, settings, sha, spec

ENGINES = {name: EngineSpec(type="shell") for name in ("default", "planner")}
LARGE = spec(1, paths=("src/",))
SCOPES = (
    Scope(task=1, files=20, changes=100, creates=("src/new.py",)),
    Scope(task=2, files=1),
)


def planned(**given: object) -> Rules:
    request = RequestConvoy(
        convoy=NAME,
        issue=7,
        title="Fix it",
        text="All of it.",
        by="ann",
        target="main",
        base=sha("0"),
        settings=settings(engines=ENGINES, **given),
    )
    tasks = (LARGE, spec(2, paths=("a.py",)), spec(3, paths=("CLAUDE.md",)))
    plan = PlanConvoy(convoy=NAME, planner="test", tasks=tasks, scopes=SCOPES)
    return Rules().do(request, plan)


def test_size_counts_files_what_changed_in_them_and_words() -> None:
    assert task_points(LARGE, SCOPES[0]) == 21 + 4
    assert task_points(spec(1, instructions="word " * 600), None) == 10
    assert task_size(LARGE, SCOPES[0]) == "large"
    assert task_size(spec(2), SCOPES[1]) == "small"


def test_a_task_that_is_too_large_is_split_before_it_is_tried() -> None:
    rules = planned(max_size=20, splitter="planner")

    assert [task.state for task in rules.convoy.tasks] == [
        "blocked",
        "queued",
        "blocked",
    ]
    assert "25 points of size (21 files, 100 earlier changes" in rules.task(1).why
    assert rules.task(1).started == 0
    refs = {f"refs/heads/convoy/{NAME}/base": sha("0")}
    actions = owed_actions(rules.state, Observed(refs=refs), Patience(), rules.now)
    assert commands(actions, BeginSplit) == [BeginSplit(convoy=NAME, task=1)]
    assert [need.task for need in uncalled(rules.state, rules.convoy)] == [3]


def test_where_nobody_splits_it_is_said_and_goes_on() -> None:
    rules = planned(max_size=20)

    assert rules.task(1).state == "queued"
    (said,) = rules.convoy.warnings
    assert said.startswith("task 1 is too large: it has 25 points of size")
    assert said.endswith("/brat split 1 -- does it in parts")
    assert planned().convoy.warnings == ()


def test_tests_that_another_task_wrote_are_tests_all_the_same() -> None:
    rules = Rules().planned(spec(1), spec(2, after=(1,)), spec(3))
    files = {1: "a.py", 2: "tests/test_a.py", 3: "b.py"}
    tasks = tuple(
        replace(
            task,
            state="merged",
            work=Work(
                attempt=1,
                commit=sha("a"),
                base=sha("0"),
                files=(files[task.number],),
                at=0,
            ),
        )
        for task in rules.convoy.tasks
    )
    convoy = replace(rules.convoy, tasks=tasks)

    assert untested(convoy, tasks[0]) == ()
    assert untested(convoy, tasks[2]) == ("b.py",)
