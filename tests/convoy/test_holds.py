"""Work that is kept from merging, let go, put on a newer base or sent back."""

from msgspec.structs import replace

from convoy.events import hold_events
from convoy.events.people_events import TaskApproved
from convoy.rules.ending import AcceptNothing
from convoy.rules.landing import LandMerge
from convoy.rules.people import RebaseWork
from convoy.rules.retries import ReviseTask
from convoy.rules.starting import StartTask
from tests.convoy.room import BASE, GREEN, begins, due, refused
from tests.world.rules import NAME, Rules, made, open_pulls, sha, spec, task_branches

MAIN = "refs/heads/main"


def owed(rules: Rules, tip: str = sha("0")) -> list[str]:
    parts = (rules.convoy, *rules.convoy.tasks)
    green = {part.candidate.commit: GREEN for part in parts if part.candidate}
    refs = {BASE: tip, MAIN: sha("0"), **task_branches(rules.convoy)}
    seen = due(rules, refs, checks=green, pulls=open_pulls(rules.convoy))
    kinds = [type(action).__name__ for action in seen]
    return [kind for kind in kinds if kind not in ("Do", "Show")]


def offered() -> Rules:
    """Return a convoy with a green candidate, and a task that may start."""
    rules = Rules().planned(spec(1), spec(2)).started(1).accepted(1, sha("a"))
    return rules.offered(1, sha("c"), sha("0"))


def hold(task: int) -> hold_events.WorkHeld:
    return hold_events.WorkHeld(convoy=NAME, task=task, label="brat:hold")


def test_nothing_of_a_held_convoy_starts_or_merges() -> None:
    rules = offered()
    assert owed(rules) == ["Align", "Begin"]

    rules.do(hold(0))

    assert owed(rules) == []
    assert not rules.startable(2)
    land = LandMerge(convoy=NAME, task=1, candidate=sha("c"), judged=("ci",))
    assert "no longer the candidate" in refused(rules, land)
    rules.do(hold_events.WorkReleased(convoy=NAME, task=0))
    assert owed(rules) == ["Build", "Begin"]

    rules = offered().do(hold(1))
    assert owed(rules) == ["Begin"], "the others go on"
    assert refused(rules, hold(1)) == "brat:hold already holds it"
    rules.do(hold_events.WorkHeld(convoy=NAME, task=1, label="brat:no"))
    assert rules.task(1).held == "brat:no"
    rules.do(hold_events.WorkReleased(convoy=NAME, task=1))
    assert refused(rules, made(hold_events.WorkReleased)) == "no label holds it"


def withdraw(task: int) -> hold_events.MergeWithdrawn:
    return made(hold_events.MergeWithdrawn, task=task)


def request(task: int) -> hold_events.MergeRequested:
    return made(hold_events.MergeRequested, task=task)


def test_what_is_withdrawn_merges_only_when_it_is_asked_for_again() -> None:
    rules = offered()
    assert "will merge automatically" in refused(rules, request(1))
    rules.do(withdraw(1))
    assert owed(rules) == ["Begin"]
    assert refused(rules, withdraw(1)) == "it is not in the merge queue"
    rules.do(request(1))
    assert owed(rules) == ["Build", "Begin"]

    rules = Rules().planned(spec(1)).landed(1, sha("a"))
    assert owed(rules, sha("a")) == ["BuildConvoy"]
    assert refused(rules, withdraw(1)) == "task 1 is merged"
    assert refused(rules, withdraw(9)) == "fix-7 has no task 9"
    rules.do(withdraw(0))
    assert owed(rules, sha("a")) == []
    rules.do(request(0))
    assert owed(rules, sha("a")) == ["BuildConvoy"], "the convoy itself"


def test_rebased_work_replaces_the_old_and_its_approvals() -> None:
    rebase = made(RebaseWork, old=sha("a"), commit=sha("b"), base=sha("1"))
    rules = Rules().planned(spec(1), approvals=1).started(1).accepted(1, sha("a"))
    rules.do(made(TaskApproved, commit=sha("a"), by="bea"))

    other = refused(rules, replace(rebase, old=sha("e")))
    assert other == "the work of task 1 has changed"
    based = "task 1 is already based on 00000"
    assert based in refused(rules, replace(rebase, base=sha("0")))
    said = f"nobody has accepted the push of {sha('1')[:10]}"
    assert refused(rules, rebase) == said, "the bot may not have heard of it yet"
    rules.do(hold_events.BranchPushed(convoy=NAME, commit=sha("1")))
    assert refused(rules, rebase) == said
    rules.do(hold_events.BranchReturned(convoy=NAME))
    assert refused(rules, rebase) == said
    rules.pushed(sha("1")).do(rebase)

    work = rules.task(1).work
    assert work is not None
    assert (work.commit, work.base) == (sha("b"), sha("1"))
    assert rules.task(1).approved_by == ()


def test_a_revision_starts_nowhere_else_and_does_not_lose_the_work() -> None:
    rules = offered().do(made(ReviseTask, text="Shorter."))
    start = made(StartTask, session="0" * 32, now=0)
    assert refused(rules, start) == f"task 1 must continue from {sha('a')}"
    rules.pushed(sha("9"))
    bases = {each.task: each.base for each in begins(rules, {BASE: sha("9")})}
    assert bases == {1: sha("a"), 2: sha("9")}

    rules.started(1, sha("a"))
    nothing = AcceptNothing(convoy=NAME, task=1, attempt=2)
    assert refused(rules, nothing) == "task 1 has work that must be changed"
    rules.refused(1)
    assert rules.task(1).earlier is not None
