"""Work that touches more than was declared reorders what has not begun."""

from hypothesis import given, strategies as st
from msgspec.structs import replace

from convoy.model import ids
from convoy.model.attempt import Work
from convoy.model.records import TaskSpec
from convoy.model.state import Task
from convoy.model.task_graph import find_cycle
from convoy.owed.actions import Begin
from convoy.owed.owed import owed_actions
from convoy.owed.patience import Patience
from convoy.readiness.observed import Observed
from convoy.readiness.reorder import Reorder, overlooked
from convoy.rules.end_session import LoseSession
from convoy.rules.plan_changes import LinkTask
from convoy.rules.stop_task import BlockTask, DropTask
from convoy.views.plan_order import edges
from tests.world.rules import NAME, Rules, sha, spec

WHY = "its work touched a.py, and has not landed"


def surprised(**given: object) -> Rules:
    """Return rules where task 1 touched a.py, and 2 and 3 are to touch it."""
    rules = Rules().planned(
        spec(1, paths=("docs/",)),
        spec(2, paths=("a.py",)),
        spec(3, paths=("a.py", "c.py")),
        spec(4, paths=("b.py",)),
        spec(5),
        **given,
    )
    return rules.started(1).accepted(1, sha("a"))


def begins(rules: Rules) -> list[int]:
    observed = Observed(refs={ids.HEADS + f"convoy/{NAME}/base": sha("0")})
    owed = owed_actions(rules.state, observed, Patience(), rules.now)
    return [each.task for each in owed if isinstance(each, Begin)]


def test_who_has_not_begun_waits_for_what_is_found_to_be_touched() -> None:
    rules = surprised()

    assert overlooked(rules.convoy) == (
        Reorder(NAME, 2, 1, WHY),
        Reorder(NAME, 3, 1, WHY),
    )
    assert begins(rules) == [4, 5]


def test_it_is_in_the_log_with_its_reason_and_is_done_once() -> None:
    rules = surprised().do(LinkTask(convoy=NAME, task=2, on=1, why=WHY))

    assert [each.task for each in overlooked(rules.convoy)] == [3]
    assert edges(rules.task(2).spec) == (f"it comes after task 1: {WHY}",)


def test_it_starts_when_the_other_has_landed() -> None:
    rules = surprised().do(LinkTask(convoy=NAME, task=2, on=1, why=WHY))
    rules.offered(1, sha("c"), sha("0")).landed_as(1, sha("c"))

    assert overlooked(rules.convoy) == ()
    assert begins(rules) == [2, 3, 4, 5]


def test_it_waits_no_more_for_what_was_dropped() -> None:
    rules = surprised().do(LinkTask(convoy=NAME, task=2, on=1, why=WHY))
    rules.do(DropTask(convoy=NAME, task=1, why="dropped by bea"))

    assert rules.task(2).spec.after == ()
    assert begins(rules) == [2, 3, 4, 5]


def test_a_person_who_links_them_means_it() -> None:
    rules = surprised().do(LinkTask(convoy=NAME, task=2, on=1, by="bea"))
    rules.do(DropTask(convoy=NAME, task=1, why="dropped by bea"))

    assert rules.task(2).state == "blocked"


def test_without_locks_nobody_waits() -> None:
    assert overlooked(surprised(locks="off").convoy) == ()


def touching(*others: TaskSpec) -> Rules:
    """Return rules where task 1 touched a.py and did not land, beside others."""
    rules = Rules().planned(spec(1, paths=("docs/",)), *others)
    return rules.started(1).accepted(1, sha("a"))


def test_what_was_tried_already_is_not_put_behind() -> None:
    rules = Rules().planned(spec(1, paths=("docs/",)), spec(2, paths=("a.py",)))
    rules = rules.started(2).do(
        LoseSession(convoy=NAME, task=2, attempt=1, cause="lost", why="gone")
    )
    rules = rules.started(1).accepted(1, sha("a"))

    assert (rules.task(2).state, rules.task(2).started) == ("queued", 1)
    assert overlooked(rules.convoy) == ()


def test_what_starts_from_its_tests_or_changes_nothing_does_not_wait() -> None:
    rules = touching(
        spec(2, kind="tests", paths=("t.py",)),
        spec(3, on=(2,), paths=("a.py",)),
        spec(4, kind="report", paths=("a.py",)),
    )

    assert overlooked(rules.convoy) == ()


def test_nobody_waits_for_work_that_may_never_be_chosen() -> None:
    rules = Rules().planned(
        spec(1, kind="rival"),
        spec(2, kind="rival"),
        spec(3, kind="choice", on=(1, 2)),
        spec(4, paths=("a.py",)),
    )
    rules.started(1).accepted_quietly(1, sha("a"))

    work = rules.task(1).work
    assert work is not None
    assert work.files == ("a.py",)
    assert overlooked(rules.convoy) == ()


def test_a_name_that_begins_alike_is_another() -> None:
    assert overlooked(touching(spec(2, paths=("a",))).convoy) == ()


def test_nobody_waits_for_work_that_waits_for_a_person() -> None:
    rules = touching(spec(2, paths=("a.py",)))
    assert len(overlooked(rules.convoy)) == 1

    rules.do(BlockTask(convoy=NAME, task=1, why="red"))
    assert overlooked(rules.convoy) == ()


paths = st.sampled_from(["a.py", "src/", "src/b.py", "docs/"])
drawn = st.tuples(
    st.lists(paths, max_size=2, unique=True),
    st.lists(paths, max_size=2, unique=True),
    st.sampled_from(["queued", "needs-review", "merged"]),
)


@given(st.lists(drawn, min_size=1, max_size=6))
def test_whatever_is_touched_no_circle_comes_of_it(
    told: list[tuple[list[str], list[str], str]],
) -> None:
    tasks = tuple(
        Task(
            spec=spec(number, paths=tuple(paths), after=(number - 1,) * (number > 3)),
            state=state,  # type: ignore[arg-type]
            work=Work(attempt=1, commit=sha("a"), base="", files=tuple(files), at=0),
        )
        for number, (paths, files, state) in enumerate(told, 1)
    )
    rules = Rules().planned(spec(1))
    convoy = replace(rules.convoy, tasks=tasks)
    while found := overlooked(convoy):
        each = found[0]
        task = tasks[each.task - 1]
        after = (*task.spec.after, each.on)
        linked = replace(task, spec=replace(task.spec, after=after))
        tasks = (*tasks[: each.task - 1], linked, *tasks[each.task :])
        convoy = replace(convoy, tasks=tasks)

    assert find_cycle({task.number: task.spec.after for task in tasks}) is None
