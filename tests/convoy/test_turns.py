"""Tasks that touch the same files take turns, until what goes first has landed."""

from collections.abc import Mapping

from hypothesis import given, strategies as st
from msgspec.structs import replace

from convoy.events.hold_events import BranchPushed
from convoy.model.records import TaskSpec, Wait
from convoy.model.state import Convoy, Task
from convoy.model.work import Work
from convoy.owed import Action, Begin
from convoy.rules.ending import LoseSession
from convoy.rules.landing import ClearMerge, DoubtMerge, FailMerge
from convoy.rules.turns import Turn, in_order, turns, unmet
from convoy.rules.verdict import Checks
from tests.convoy.room import BASE, due
from tests.world.rules import NAME, Rules, made, sha, spec


def surprised(**given: object) -> Rules:
    """Return rules where task 1 touched a.py, and 2 and 3 are to touch it."""
    told = (("docs/",), ("a.py",), ("a.py", "c.py"), ("b.py",), ())
    tasks = (spec(number, paths=paths) for number, paths in enumerate(told, 1))
    return Rules().planned(*tasks, **given).started(1).accepted(1, sha("a"))


def herd(*numbers: int, last: str = sha("0"), **given: object) -> Rules:
    """Return rules where tasks that declare nothing all touched a.py.

    `last` is what the last one began from.
    """
    rules = Rules().planned(*(spec(number) for number in numbers), **given)
    for number in numbers:
        rules.started(number, last if number == numbers[-1] else sha("0"))
    for number in numbers:
        rules.accepted(number, sha(f"{number:x}"), "a.py")
    return rules


def conflicts(rules: Rules, number: int, *paths: str, **more: object) -> Rules:
    why = {"cause": "conflict", "why": "a.py", "paths": paths or ("a.py",), **more}
    return rules.do(made(FailMerge, task=number, candidate=None, **why))


def owed(rules: Rules, checks: dict[str, Checks] | None = None) -> tuple[Action, ...]:
    return due(rules, {BASE: rules.convoy.tip or sha("0")}, checks=checks or {})


def begins(rules: Rules, checks: dict[str, Checks] | None = None) -> list[int]:
    return [each.task for each in owed(rules, checks) if isinstance(each, Begin)]


# --- who has not begun ----------------------------------------------------------------


def test_it_starts_from_the_others_candidate_while_ci_judges_that() -> None:
    rules = surprised()
    assert begins(rules) == [4, 5]
    rules.offered(1, sha("c"), sha("0"))
    started = [each for each in owed(rules) if isinstance(each, Begin)]
    assert started[0] == Begin(NAME, 2, sha("c"))

    red = Checks(verdict="red", text="no", names=("ci",))
    assert begins(rules, checks={sha("c"): red}) == [4, 5]

    rules.started(2, sha("c"))
    assert begins(rules) == [4, 5]

    rules = surprised(strategy="merge").offered(1, sha("c"), sha("0"))
    assert begins(rules) == [4, 5], "it is judged where it lands"
    assert begins(rules.landed_as(1, sha("c"))) == [2, 4, 5]

    rules = surprised().do(made(BranchPushed, task=1, commit=sha("f")))
    assert begins(rules) == [2, 4, 5], "a person answers for it first"


def test_what_a_plan_puts_in_order_for_a_shared_path_needs_nothing() -> None:
    behind = spec(2, after=(1,), waits=(Wait(1, "both touch a.py", overlap=True),))
    rules = Rules().planned(spec(1), behind)
    assert begins(rules) == [1]
    assert begins(rules.blocked(1, "no")) == [2]

    rules = Rules().planned(spec(1, paths=("a.py",)), spec(2, paths=("a.py",)))
    rules.blocked(1, "no").started(2).lost(2)
    waiting = replace(rules.task(1), state="queued", cause="retry")
    convoy = replace(rules.convoy, tasks=(waiting, rules.task(2)))
    assert turns(convoy) == {1: (Turn(2, ("a.py",)),)}, "2 was tried already"


def test_who_touches_no_such_file_or_starts_from_its_tests_does_not_wait() -> None:
    def first(*others: TaskSpec) -> Mapping[int, tuple[Turn, ...]]:
        """Return who waits for task 1, which touched a.py and did not land."""
        rules = Rules().planned(spec(1, paths=("docs/",)), *others)
        return turns(rules.started(1).accepted(1, sha("a")).convoy)

    tests = spec(2, kind="tests", paths=("t.py",))
    assert first(tests, spec(3, on=(2,), paths=("a.py",))) == {}
    for other in (
        spec(2, kind="report", paths=("a.py",)),
        spec(2, paths=("a",)),
        spec(2, paths=("a.pyi",)),
    ):
        assert first(other) == {}
    assert turns(surprised(locks="off").convoy) == {}


# --- what was sent back, and the queue ------------------------------------------------


def test_a_herd_that_conflicts_goes_on_one_after_another() -> None:
    rules = herd(1, 2, 3)
    assert rules.queue == [1, 2, 3]
    rules.offered(1, sha("c"), sha("0")).landed_as(1, sha("c"))
    conflicts(conflicts(rules, 2), 3)

    assert begins(rules) == [2]
    rules.started(2).accepted(2, sha("d"))
    assert begins(rules) == []
    rules.offered(2, sha("e"), sha("c")).landed_as(2, sha("e"))
    assert begins(rules) == [3]

    rules = herd(1, 2)
    rules.offered(1, sha("c"), sha("0")).landed_as(1, sha("c"))
    conflicts(rules, 2).started(2).accepted(2, sha("d"), "b.py")
    assert rules.task(2).touched == ("a.py", "b.py"), "whatever any attempt touched"


def sent_back(rounds: int = 5) -> Rules:
    """Return a herd in which 2's work, made fit, is the candidate on what 1 landed."""
    rules = herd(1, 2, 3, 4, rounds=rounds)
    rules.offered(1, sha("c"), sha("0")).landed_as(1, sha("c"))
    conflicts(conflicts(conflicts(rules, 2), 3), 4)
    return rules.started(2).accepted(2, sha("d")).offered(2, sha("e"), sha("c"))


def test_work_is_made_fit_on_the_front_candidate_where_ci_was_never_red() -> None:
    rules = sent_back()
    assert Begin(NAME, 3, sha("e")) in owed(rules)
    rules.started(3, sha("e")).accepted(3, sha("f")).offered(3, sha("9"), sha("e"))
    assert begins(rules) == [], "red in front, it would cost every session behind"
    assert Begin(NAME, 4, sha("9")) in owed(rules.landed_as(2, sha("e")))

    rules = sent_back()
    assert begins(rules, {sha("e"): Checks(verdict="red", text="no")}) == []
    doubt = {"candidate": sha("e"), "is_red": True, "checks": ("ci",), "why": "red"}
    rules.do(made(DoubtMerge, task=2, **doubt)).offered(2, sha("8"), sha("c"))
    rules.do(made(ClearMerge, task=2, candidate=sha("8"), judged=("ci",)))
    assert begins(rules) == [], "CI has been red in this convoy"

    blame = {"candidate": sha("e"), "cause": "red", "why": "red"}
    rules = sent_back().do(made(FailMerge, task=2, **blame)).started(2)
    rules.accepted(2, sha("7")).offered(2, sha("8"), sha("c"))
    assert begins(rules) == [], "it was blamed without another look"

    assert begins(sent_back(rounds=1)) == [], "a person is asked after another one"
    end = made(LoseSession, task=3, attempt=2, cause="lost", why="gone", left=sha("7"))
    lost = sent_back().started(3, sha("e")).do(end)
    assert begins(lost) == [], "what is half done stands on that candidate alone"


def added(*paths: str, last: str = sha("0"), rounds: int = 5) -> Rules:
    """Return a herd of four that added lines at one place; 1 has landed."""
    rules = herd(1, 2, 3, 4, last=last, rounds=rounds)
    rules.offered(1, sha("c"), sha("0")).landed_as(1, sha("c"))
    conflicts(conflicts(rules, 2, only_adds=True), 3, *paths, only_adds=True)
    return conflicts(rules, 4, only_adds=True)


def test_what_only_adds_lines_is_made_fit_at_once_each_on_the_work_ahead() -> None:
    rules = added()
    starts = (
        Begin(NAME, 2, sha("c")),
        Begin(NAME, 3, sha("2")),
        Begin(NAME, 4, sha("3")),
    )
    assert tuple(each for each in owed(rules) if isinstance(each, Begin)) == starts
    rules.started(3, sha("2")).accepted(3, sha("d")).started(2)
    assert rules.queue == [], "2 lands first"
    assert begins(rules) == [], "what was made fit may still change what 4 stands on"
    rules.accepted(2, sha("e")).offered(2, sha("f"), sha("c"))
    assert rules.queue == [2, 3]

    conflicts(rules.landed_as(2, sha("f")), 3, only_adds=True)
    assert Begin(NAME, 3, sha("f")) in owed(rules)
    assert begins(rules) == [3], "what was made fit in vain waits, and 4 for it"
    assert begins(added("a.py", "b.py")) == [2, 4], "3 conflicts where 2 does not"
    assert begins(added(last=sha("c"))) == [2, 3], "3 lacks what 4 stands on"
    assert begins(added(rounds=1)) == [2], "a person is asked after another one"


def test_the_listed_order_holds_in_the_queue_among_those_that_share_a_file() -> None:
    def three() -> Rules:
        rules = Rules().planned(spec(1), spec(2), spec(3))
        return rules.started(1).started(2).started(3)

    rules = three().accepted(3, sha("3"), "a.py").accepted(2, sha("2"), "b.py")
    rules.accepted(1, sha("1"), "a.py")
    assert rules.queue == [2, 1, 3]

    rules = Rules().planned(spec(1, after=(2,)), spec(2), spec(3))
    found = in_order(rules.convoy, {task.number: task for task in rules.convoy.tasks})
    assert found.index(2) < found.index(1), "who is needed goes first"

    rules = three().accepted(2, sha("2"), "a.py")  # what CI judges is not overtaken
    rules.offered(2, sha("c"), sha("0")).accepted(1, sha("1"), "a.py")
    assert rules.queue == [2, 1]
    rules.offered(1, sha("d"), sha("c")).accepted(3, sha("3"), "a.py")
    rules.offered(2, sha("e"), sha("9")).offered(1, sha("f"), sha("e"))
    assert rules.queue == [2, 1, 3]


def test_work_waits_in_the_queue_for_what_was_sent_back_before_it() -> None:
    rules = Rules().planned(spec(1), spec(2), spec(3))
    rules.started(1).started(2).started(3).accepted(3, sha("3"), "a.py")
    rules.offered(3, sha("c"), sha("0")).landed_as(3, sha("c"))
    conflicts(rules.accepted(1, sha("1"), "a.py"), 1).started(1)
    rules.accepted(2, sha("2"), "a.py")

    assert rules.queue == []
    assert rules.waits(2) == ("task 1 to land first (both touch a.py)")
    rules.accepted(1, sha("d"), "a.py")
    assert rules.queue == [1, 2]


def test_nobody_gives_way_for_ever() -> None:
    rules = Rules().planned(spec(1), spec(2), spec(3))
    rules.started(1).started(2).started(3)
    for _ in range(2):
        conflicts(rules.accepted(3, sha("3")), 3).started(3)
    rules.accepted(1, sha("1"))
    assert turns(rules.convoy)[1] == (Turn(3, ("a.py",)),)

    rules = Rules().planned(spec(1), attempts=1, rounds=2)
    for _ in range(2):  # conflicts cost no attempt
        conflicts(rules.started(1).accepted(1, sha("a")), 1)
        assert (rules.task(1).state, rules.task(1).spent) == ("queued", 0)
    conflicts(rules.started(1).accepted(1, sha("a")), 1)
    why = "its conflicts are still not resolved after 2 attempts: a.py"
    assert (rules.task(1).state, rules.task(1).why) == ("blocked", why)


paths = st.sampled_from(["a.py", "src/", "src/b.py", "docs/"])
drawn = st.tuples(
    st.lists(paths, max_size=2, unique=True),
    st.lists(paths, max_size=2, unique=True),
    st.sampled_from(["queued", "needs-review", "merged", "blocked"]),
    st.sets(st.integers(min_value=1, max_value=6), max_size=2),
    st.booleans(),
)


@given(st.lists(drawn, min_size=1, max_size=6))
def test_whatever_is_touched_somebody_can_go_on(
    told: list[tuple[list[str], list[str], str, set[int], bool]],
) -> None:
    tasks = tuple(
        Task(
            spec=spec(
                number,
                paths=tuple(paths),
                after=tuple(n for n in after if n <= len(told) and n % 3 < number % 3),
            ),
            state=state,  # type: ignore[arg-type]
            why="stopped",
            started=int(begun),
            touched=tuple(files),
            work=Work(attempt=1, commit=sha("a"), base="", files=(), at=number % 2),
        )
        for number, (paths, files, state, after, begun) in enumerate(told, 1)
    )
    convoy = replace(Rules().planned(spec(1)).convoy, tasks=tasks)

    assert not _waiting_for_nobody(convoy)


def _waiting_for_nobody(convoy: Convoy) -> set[int]:
    """Return the tasks that wait, and neither a person nor a free task is behind it."""
    found = turns(convoy)
    left = {task.number for task in convoy.tasks if not task.settled}
    going = {task.number for task in convoy.tasks if task.state == "blocked"}
    grown = True
    while grown:
        more = {
            task.number
            for task in convoy.tasks
            if task.number in left - going
            and (
                any(number in going for number in unmet(convoy, task))
                or {turn.on for turn in found.get(task.number, ())}
                | {*unmet(convoy, task)}
                <= going
            )
        }
        going |= more
        grown = bool(more)
    return left - going


# --- who goes first when slots are few ------------------------------------------------


def test_what_was_sent_back_goes_first_then_what_most_tasks_wait_for() -> None:
    rules = Rules().planned(spec(1), spec(2), spec(3), max_sessions=1).started(2)
    rules.lost(2, "gone")
    assert begins(rules) == [2]

    rules = Rules().planned(
        *(spec(1), spec(2), spec(3, after=(2,)), spec(4, after=(3,))),
        *(spec(5), spec(6, after=(5,))),
        max_sessions=2,
    )
    assert begins(rules) == [2, 5]
