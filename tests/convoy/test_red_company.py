"""Candidates on top of a red one that are red like it spare a second run of it."""

import pytest
from msgspec.structs import replace

from convoy.events.merge_events import MergeDoubted
from convoy.owed import Action, LookAgain, Reject
from convoy.owed.ci_findings import GRACE_MS
from convoy.rules.verdict import Checks
from tests.convoy.test_second_looks import GREEN, RED, TIP, doubt, due, waiting
from tests.world.rules import NAME, Rules, sha

RUNS = Checks(verdict="pending")
OTHER = replace(RED, failed=("lint",))
TOOK_MS = 100_000
"""How long the red run took."""


def three() -> Rules:
    """Offer the work of three tasks, each on the one before; CI takes its time."""
    rules = waiting(1, 2, 3).offered(1, sha("a"), TIP)
    rules.offered(2, sha("b"), sha("a")).offered(3, sha("c"), sha("b"))
    rules.now = rules.task(1).candidate.at + TOOK_MS  # type: ignore[union-attr]
    return rules


def seen(rules: Rules, checks: Checks = RED) -> Checks:
    """Return a verdict that was seen just now."""
    return replace(checks, since=rules.now)


def look(*also: int) -> list[Action]:
    return [LookAgain(NAME, 1, sha("a"), "boom", ("unit",), True, also)]  # noqa: FBT003


def test_two_on_top_that_are_red_alike_say_what_a_second_run_would() -> None:
    rules = three()

    assert due(rules, a=seen(rules), b=RED, c=RED) == look(2, 3)
    rules.do(replace(doubt(1, "a"), also_red=(2, 3)))

    assert due(rules)[0] == Reject(NAME, 1, sha("a"), "boom")
    (noted,) = (fact for fact in rules.facts if isinstance(fact, MergeDoubted))
    assert noted.sentence() == (
        "CI is red on candidate aaaaaaaaaa of task 1, and by the same checks with task "
        "2 and 3 on top of it."
    )


@pytest.mark.parametrize(
    "behind", [(GREEN, RED), (RED, GREEN), (OTHER, RED), (RED, OTHER)]
)
def test_one_that_is_not_red_alike_is_no_proof(behind: tuple[Checks, Checks]) -> None:
    rules = three()
    second, third = behind

    assert due(rules, a=seen(rules), b=second, c=third) == look()


def test_those_about_to_end_are_waited_for_a_tenth_of_its_time() -> None:
    rules = three()
    red = seen(rules)

    assert due(rules, a=red, b=RED, c=RUNS) == []
    rules.now += TOOK_MS // 10
    assert due(rules, a=red, b=RED, c=RUNS) == look()


def test_no_wait_is_longer_than_half_a_minute() -> None:
    rules = three()
    rules.now += 100 * TOOK_MS
    red = seen(rules)
    rules.now += GRACE_MS

    assert due(rules, a=red, b=RED, c=RUNS) == look()


def test_what_is_green_ahead_lands_first_so_that_it_is_red_on_the_tip() -> None:
    rules = waiting(1, 2, 3, 4).offered(1, sha("a"), TIP)
    rules.offered(2, sha("b"), sha("a")).offered(3, sha("c"), sha("b"))
    rules.offered(4, sha("d"), sha("c"))
    rules.now += TOOK_MS
    red = seen(rules)

    running = due(rules, a=RUNS, b=red, c=RED, d=RED)
    ahead = due(rules, a=GREEN, b=red, c=RED, d=RED)
    rules.landed_as(1, sha("a"))

    assert running == []
    assert [type(each).__name__ for each in ahead] == ["Land"]
    assert due(rules, sha("a"), b=red, c=RED, d=RED) == [
        LookAgain(NAME, 2, sha("b"), "boom", ("unit",), True, (3, 4))  # noqa: FBT003
    ]


def test_where_ci_has_flaked_it_is_one_look_more_and_not_all() -> None:
    rules = waiting(1, 2, 3)
    rules.offered(1, sha("e"), TIP).do(doubt(1, "e")).offered(1, sha("f"), TIP)
    rules.landed_as(1, sha("f"))  # green on the same files: a flake
    rules.offered(2, sha("a"), sha("f")).offered(3, sha("b"), sha("a"))

    rules.do(replace(doubt(2, "a"), also_red=(3,)))

    assert not any(isinstance(each, Reject) for each in due(rules, sha("f")))


def test_what_does_not_stand_on_it_proves_nothing() -> None:
    rules = three()

    told = replace(doubt(1, "a"), also_red=(3,))

    refused = rules.ask(told)
    assert refused is not None
    assert "task 3 does not stand on task 1" in str(refused)
    assert rules.ask(replace(told, also_red=(7,))) is not None
