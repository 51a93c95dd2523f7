"""Tests before code: seen red by CI, then passed, and landed as one."""

from msgspec.structs import replace

from convoy.events.forge_actions import ActionIntended
from convoy.owed import Prove, Reject, Try
from convoy.owed.landings import NOT_RED
from convoy.rules.ending import AcceptNothing
from convoy.rules.landing import FailMerge, LandMerge, ProveWork, waiting_to_merge
from convoy.rules.people import BlockTask, DropTask
from convoy.rules.retries import RetryTask, ReviseTask
from convoy.rules.verdict import Checks, CiVerdict
from tests.convoy.room import due, refused
from tests.world.cases import looped
from tests.world.rules import NAME, Rules, made, sha, spec

TESTS, CODE = spec(1, kind="tests"), spec(2, on=(1,))


def written() -> Rules:
    """Return a convoy whose tests are written, with their pull request nowhere."""
    rules = Rules().planned(TESTS, CODE).started(1)
    return rules.accepted_quietly(1, sha("a"), "test_a.py")


def proven() -> Rules:
    rules = written().offered(1, sha("a"), sha("0"))
    return rules.do(made(ProveWork, commit=sha("a")))


def owed(rules: Rules, *verdict: CiVerdict) -> list[object]:
    """Return what the refinery owes, CI having said so of the tests."""
    checks = {sha("a"): Checks(verdict=each, names=("ci",)) for each in verdict}
    actions = due(rules, checks=checks)
    return [each for each in actions if isinstance(each, Try | Prove | Reject)]


def test_tests_are_shown_to_ci_as_they_are_and_to_nobody_else() -> None:
    rules = written()

    assert owed(rules) == [Try(NAME, 1)]
    assert waiting_to_merge(rules.convoy) == ()
    assert rules.waits(1) == "CI to be red on its tests"
    assert rules.waits(2) == "CI to be red on the tests of task 1"
    assert "pull" not in {fact.kind for fact in rules.noted(ActionIntended)}
    rules.offered(1, sha("a"), sha("0"))
    assert owed(rules) == []
    assert owed(rules, "red") == [Prove(NAME, 1, sha("a"))]
    assert owed(rules, "green") == [Reject(NAME, 1, sha("a"), NOT_RED, is_red=False)]
    assert not rules.startable(2)

    rules.do(made(FailMerge, candidate=sha("a"), cause="changes", why=NOT_RED))
    task = rules.task(1)
    assert (task.state, task.notes) == ("queued", (NOT_RED,))
    assert task.earlier is not None, "it is gone on from"
    assert task.earlier.commit == sha("a")


def test_tests_never_land_alone_nor_unproven() -> None:
    rules = written().offered(1, sha("a"), sha("0"))
    proof = ProveWork(convoy=NAME, task=1, commit=sha("a"), judged=("ci",))
    land = LandMerge(convoy=NAME, task=1, candidate=sha("a"), judged=("ci",))

    for early in (land, replace(proof, judged=()), replace(proof, commit=sha("b"))):
        assert rules.ask(early)
    assert rules.do(proof).ask(proof), "once"
    rules.started(2, sha("a"))
    assert rules.ask(AcceptNothing(convoy=NAME, task=2, attempt=1))


@looped((1, ["dropped", "blocked"]), (2, ["dropped", "dropped"]))
def test_one_does_not_stay_without_the_other(dropped: int, states: list[str]) -> None:
    rules = proven().dropped(dropped, "dropped by ann")
    assert rules.states == states
    assert rules.ask(made(RetryTask, task=2))

    rules = proven().started(2, sha("a"))
    used = "task 2 builds on the tests of task 1"
    for change in (made(DropTask), made(BlockTask), made(ReviseTask, text="No.")):
        assert refused(rules, change) == used
