"""Work that touches more than was declared reorders what has not begun."""

from hypothesis import given, strategies as st
from msgspec.structs import replace

from convoy.actions import Begin, Reorder
from convoy.commands import DropTask, LinkTask
from convoy.graph import find_cycle
from convoy.observed import Observed
from convoy.plan import HEADS, Pace, plan
from convoy.reorder import overlooked
from convoy.state import Task, Work
from convoy.told.order import edges
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
    observed = Observed(refs={HEADS + f"convoy/{NAME}/base": sha("0")})
    owed = plan(rules.state, observed, Pace(), rules.now)
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
