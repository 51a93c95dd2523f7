"""Red work is judged again, alone and on the real tip, before anybody is blamed."""

from msgspec.structs import replace

from convoy import owed
from convoy.events.merge_events import MergeCleared
from convoy.model.work import LOST_MOST
from convoy.owed.landings import CI_MOST_MS, merges
from convoy.rules.landing import ClearMerge, DoubtMerge, FailMerge
from convoy.rules.observed import Observed
from convoy.rules.people import BlockTask
from convoy.rules.verdict import Check, Checks, judge
from tests.convoy.room import BASE, in_review
from tests.world.cases import looped
from tests.world.rules import NAME, Rules, commands, made, open_pulls, sha

TIP, NEXT = sha("0"), sha("9")
GREEN = Checks(verdict="green", names=("unit",))
RED = Checks(verdict="red", names=("unit",), failed=("unit",), text="boom")
STOPPED = Checks(verdict="lost", names=("unit",), failed=("unit",), text="stopped")


def waiting(*numbers: int) -> Rules:
    return in_review(*numbers, strategy="merge")


def due(rules: Rules, tip: str = "", **seen: Checks) -> list[owed.Action]:
    """Return what is due; each check is that of the commit of this letter."""
    tip = tip or rules.convoy.tip or TIP
    checks = {sha(letter): check for letter, check in seen.items()}
    pulls = open_pulls(rules.convoy)
    observed = Observed(refs={BASE: tip}, checks=checks, pulls=pulls)
    return list(merges(rules.convoy, owed.Look(observed, owed.Patience(), rules.now)))


def red(rules: Rules, task: int, candidate: str, base: str = TIP) -> Rules:
    """Let CI be red on a task's candidate on this base."""
    rules.offered(task, sha(candidate), base)
    return rules.do(doubt(task, candidate))


def doubt(task: int, candidate: str, *, is_red: bool = True) -> DoubtMerge:
    return DoubtMerge(
        convoy=NAME,
        task=task,
        candidate=sha(candidate),
        is_red=is_red,
        checks=("unit",),
        why="boom",
    )


def again(task: int, candidate: str) -> owed.LookAgain:
    return owed.LookAgain(NAME, task, sha(candidate), "boom", ("unit",), is_red=True)


def test_what_stands_on_a_red_one_is_built_without_it_at_once() -> None:
    rules = waiting(1, 2, 3).offered(1, sha("a"), TIP)
    rules.offered(2, sha("b"), sha("a")).offered(3, sha("c"), sha("b"))

    # those ahead are not judged yet
    assert due(rules, b=RED, c=RED) == [again(2, "b")]
    rules.do(doubt(2, "b"))

    alone, others = owed.Build(NAME, (2,), TIP), owed.Build(NAME, (3,), sha("a"))
    assert due(rules) == [alone, others]


def test_red_on_green_is_its_own_once_the_one_on_top_of_it_is_red_alike() -> None:
    rules = waiting(1, 2, 3).offered(1, sha("a"), TIP)
    rules.offered(2, sha("b"), sha("a")).offered(3, sha("c"), sha("b"))
    land, blame = owed.Land(NAME, (1,), TIP), owed.Reject(NAME, 2, sha("b"), "boom")
    other, runs = replace(RED, text="bang"), replace(GREEN, verdict="pending")

    assert due(rules, a=GREEN, b=RED, c=RED) == [land, blame]
    assert due(rules, a=GREEN, b=RED, c=runs) == [land]
    assert due(rules, a=runs, b=RED) == due(rules, a=runs, b=RED, c=RED) == []
    for unlike in (other, replace(RED, failed=("lint",)), GREEN, STOPPED):
        _, found = due(rules, a=GREEN, b=RED, c=unlike)
        assert isinstance(found, owed.LookAgain)
    rules.landed_as(1, sha("a"))
    assert due(rules, sha("a"), b=RED, c=RED) == [blame]

    lasting = waiting(1, 2).offered(1, sha("a"), TIP).offered(2, sha("b"), sha("a"))
    (found,) = due(lasting, a=RED, b=RED)  # both may be red of one outage
    assert isinstance(found, owed.LookAgain)


def test_green_on_a_tip_that_moved_on_waits_in_the_chain_again() -> None:
    rules = red(waiting(1), 1, "a")  # alone in front, on the same commit again
    assert due(rules) == [owed.Build(NAME, (1,), TIP)]
    assert rules.task(1).doubted is not None
    said = "CI was red on it (boom) and is testing it again, alone"
    assert said in rules.reasons(1)

    rules.offered(1, sha("b"), TIP).pushed(NEXT)
    clear = ClearMerge(convoy=NAME, task=1, candidate=sha("b"), judged=("unit",))
    assert due(rules, NEXT, b=GREEN) == [owed.Note("refinery", clear)]
    rules.do(clear)

    assert due(rules, NEXT) == [owed.Build(NAME, (1,), NEXT)]
    rules.offered(1, sha("c"), NEXT)
    assert due(rules, NEXT, c=RED) == [again(1, "c")]


@looped(TIP, sha("a"))
def test_green_alone_lands_and_blames_nobody(base: str) -> None:
    rules = waiting(1, 2).offered(1, sha("a"), TIP)
    red(rules, 2, "b", base).offered(2, sha("c"), TIP)

    assert due(rules, c=GREEN) == [owed.Land(NAME, (2,), TIP)]
    rules.landed_as(2, sha("c"))

    (noted,) = (fact for fact in rules.facts if isinstance(fact, MergeCleared))
    assert noted.sentence() == (
        "CI is green on task 2 alone, so the fault was elsewhere."
    )
    assert rules.task(2).started == 1


def test_it_does_not_overtake_several_that_are_being_judged() -> None:
    rules = red(waiting(1, 2, 3), 1, "a").offered(1, sha("b"), TIP)
    rules.offered(2, sha("c"), TIP).offered(3, sha("d"), sha("c"))

    assert due(rules, b=GREEN) == []
    assert due(rules, b=GREEN, d=RED) == [again(3, "d")]


def test_red_alone_is_its_own_but_not_on_a_tip_that_is_about_to_move() -> None:
    def doubted() -> Rules:
        return red(waiting(1, 2).offered(1, sha("a"), TIP), 2, "b", sha("a"))

    rules = doubted().offered(2, sha("c"), TIP)
    assert due(rules, c=RED) == [owed.Reject(NAME, 2, sha("c"), "boom")]
    rules.do(made(FailMerge, task=2, candidate=sha("c"), cause="red", why="boom"))
    assert (rules.task(2).state, rules.task(2).cause) == ("queued", "red")

    rules = doubted()
    assert owed.Build(NAME, (2,), TIP) not in due(rules, a=GREEN)
    rules.landed_as(1, sha("a"))
    assert due(rules, sha("a")) == [owed.Build(NAME, (2,), sha("a"))]
    rules.offered(2, sha("c"), sha("a"))
    assert due(rules, sha("a"), c=RED) == [owed.Reject(NAME, 2, sha("c"), "boom")]


def test_ci_that_was_stopped_is_asked_again_and_then_a_person() -> None:
    rules = waiting(1)
    for count, letter in enumerate("abc"[:LOST_MOST], 1):
        rules.offered(1, sha(letter), TIP)
        found = [type(one) for one in due(rules, "", **{letter: STOPPED})]
        assert found == [owed.LookAgain, owed.Stall][: 1 + (count == LOST_MOST)]
        rules.do(doubt(1, letter, is_red=False))
        assert due(rules) == [owed.Build(NAME, (1,), TIP)]
    assert rules.task(1).spent == 1


def test_ci_that_never_started_is_asked_again_and_then_a_person() -> None:
    nothing = Checks(verdict="none")
    rules = waiting(1, 2).offered(1, sha("e"), TIP).landed_as(1, sha("e"))
    for letter in "abc"[: LOST_MOST - 1]:
        rules.offered(2, sha(letter), sha("e"))
        rules.now += 10**6  # it was waited for long enough
        (found,) = due(rules, "", **{letter: nothing})
        assert isinstance(found, owed.LookAgain)
        assert not found.is_red
        assert "never started" in found.text
        rules.do(doubt(2, letter, is_red=False))
        assert due(rules) == [owed.Build(NAME, (2,), sha("e"))]

    rules.offered(2, sha("c"), sha("e"))
    rules.now += 10**6
    (asked,) = commands(due(rules, c=nothing), BlockTask)
    assert "no check or commit status" in asked.why
    assert "brat/queue/**, whichever paths change" in asked.why
    assert rules.task(2).spent == 1

    rules = waiting(1, 2).offered(1, sha("a"), TIP).offered(2, sha("b"), sha("a"))
    assert due(rules, a=nothing, b=nothing) == [], "it may start yet"
    rules.now += 10**6
    (first,) = commands(due(rules, a=nothing, b=nothing), BlockTask)
    assert first.task == 1, "of several the first is asked about"
    assert "no check or commit status" in first.why


def test_a_required_check_that_does_not_come_is_named_and_asked_for_again() -> None:
    one = Check(id=1, app="a", name="ci", status="completed", conclusion="success")
    rules = waiting(1).offered(1, sha("a"), TIP)
    seen = replace(judge([one], ("ci", "lint"), "brat"), since=rules.now)
    assert due(rules, TIP, a=seen) == []

    rules.now += 10**6
    (asked,) = due(rules, TIP, a=seen)

    assert isinstance(asked, owed.Stall)
    assert "the required check lint has not reported" in asked.text
    assert "(reported: ci)" in asked.text
    assert "(waiting since " in asked.text
    mistaken = judge([one], ("lint",), "brat")
    (stop,) = commands(due(rules, TIP, a=mistaken), BlockTask)
    assert "the required check lint" in stop.why
    assert "(reported: ci): run CI on brat/queue/**" in stop.why
    whole = replace(one, name="lint", conclusion="skipped")
    for leg in ("lint (3.11)", "lint / ruff"):
        said = judge([one, whole], ("ci", leg), "brat").text
        assert "(reported: ci, lint): lint was skipped entirely" in said


def test_ci_that_has_not_ended_in_a_day_is_for_a_person_to_see_to() -> None:
    rules = waiting(1).offered(1, sha("a"), TIP)
    seen = Checks(verdict="pending", names=("ci",), since=rules.now)
    rules.now += CI_MOST_MS
    assert due(rules, TIP, a=seen) == []

    rules.now += 1
    (asked,) = due(rules, TIP, a=seen)

    assert isinstance(asked, owed.Stall)
    assert "it has not ended (waiting since " in asked.text
