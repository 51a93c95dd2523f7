"""Plans wait for a person, and work for approvals of exactly that work."""

from convoy.events import Command
from convoy.events.people_events import ApprovalVoided, ApprovePlan, TaskApproved
from convoy.gate import ci_files
from convoy.rules import landing
from convoy.rules.ending import AcceptWork
from tests.convoy.room import GREEN, due, refused, why
from tests.world.cases import looped
from tests.world.rules import NAME, Rules, made, sha, spec


def reviewed(**given: object) -> Rules:
    """Return a convoy whose first task waits for two approvals."""
    rules = Rules().planned(spec(1), approvals=2, **given)
    return rules.started(1).accepted(1, sha("a"))


def approval(by: str, commit: str = sha("a")) -> TaskApproved:
    return TaskApproved(convoy=NAME, task=1, commit=commit, by=by)


def test_a_plan_waits_for_a_person_once_and_then_is_carried_out() -> None:
    rules = Rules().planned(spec(1), approve="plan")
    waiting = rules.convoy
    assert waiting.state == "planning"
    assert not rules.startable(1)
    owed = [type(action).__name__ for action in due(rules)]
    assert owed == ["Do", "Show", "Show", "Show"]

    rules.do(made(ApprovePlan))

    assert rules.convoy.state == "active"
    assert rules.startable(1)
    assert refused(rules, made(ApprovePlan)) == "fix-7 is active, not planning"
    other = made(ApprovePlan, convoy="other")
    assert refused(rules, other) == "there is no convoy other"


@looped(
    (approval("ann"), "whoever requested the work cannot approve it"),
    (approval("Ann"), "whoever requested the work cannot approve it"),
    (approval("bea"), "bea has already approved it"),
    (approval("cleo", "bbbbbbb"), "task 1 is at aaaaaaaaaa, not at bbbbbbb"),
    (made(ApprovalVoided, by="cleo", why="cleo has left"), "cleo has not approved it"),
)
def test_another_person_than_asked_counts_once_for_the_commit_there_is(
    command: Command, told: str
) -> None:
    assert why(reviewed().do(approval("bea")).ask(command)) == told


def test_unapproved_work_has_no_candidate_and_does_not_land() -> None:
    rules = reviewed()
    offer = made(landing.AttemptMerge, candidate=sha("a"), work=sha("a"))
    told = "task 1 is waiting for 2 more approvals of its work"
    assert refused(rules, offer) == told
    forged = approval("bea", sha("b")).change(rules.state)
    assert not forged.convoys[NAME].tasks[0].approvals, "that commit is not there"

    rules.do(approval("bea"), approval("cleo"), offer)
    rules.do(made(ApprovalVoided, by="cleo", why="cleo has left"))

    land = made(landing.LandMerge, candidate=sha("a"))
    assert "no longer the candidate" in refused(rules, land)
    owed = due(rules, checks={sha("a"): GREEN})
    assert {type(action).__name__ for action in owed} == {"Call", "Do", "Show"}


def test_work_that_changes_what_judges_it_waits_for_a_person() -> None:
    files = (".github/workflows/ci.yml", "src/a.py")
    work = made(AcceptWork, commit=sha("a"), files=files, ci_files=ci_files(files))
    rules = Rules().planned(spec(1)).started(1).do(work)
    assert rules.kept(1) == (
        "an approval, because it changes what CI runs: .github/workflows/ci.yml"
    )
    assert not landing.waiting_to_merge(rules.convoy)
    rules.do(approval("ann"))
    assert landing.waiting_to_merge(rules.convoy) == (rules.task(1),)

    strict = Rules().planned(spec(1), approvals=1).started(1).do(work)
    told = "whoever requested the work cannot approve it"
    assert why(strict.ask(approval("ann"))) == told, "approvals are asked for"
    usual = Rules().planned(spec(1)).started(1).accepted(1, sha("a"))
    assert "no approval is required" in why(usual.ask(approval("bea")))
