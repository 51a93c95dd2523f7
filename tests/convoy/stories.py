"""Convoys that end well, badly or not yet; between them every fact a bot writes."""

from collections.abc import Callable

from msgspec.structs import replace

from convoy.events import hold_events, merge_events, people_events, plan_events
from convoy.events.forge_actions import (
    ActionDone,
    Answer,
    ItemSetAside,
    ItemTakenUp,
    RequestIgnored,
)
from convoy.model import ids
from convoy.model.ids import task_item
from convoy.model.records import EngineSpec, Finding, Report, SubIssue, TaskSpec
from convoy.model.work import Landing, ReviewThread
from convoy.rules import calls, ending, people, plans, retries
from convoy.rules.landing import (
    AttemptMerge,
    ClearMerge,
    DoubtMerge,
    FailMerge,
    LandMerge,
    ProveWork,
)
from convoy.rules.plans import AllowPaths, PlanConvoy
from convoy.rules.starting import StartTask
from convoy.rules.sub_issues import FinishKept, FollowList, ProposeList, WriteSubIssues
from convoy.rules.target import AskForge, AttemptSync, FailSync, LandSync, NoteLanded
from tests.world.cases import looped
from tests.world.rules import NAME, Rules, made, requested, settings, sha, spec

Story = Callable[[], Rules]


def landed_whole() -> Rules:
    rules = Rules().planned(spec(1, paths=("a.py",)), spec(2), spec(3))
    rules.do(
        ActionDone(key=f"comment:{NAME}", number=5),
        hold_events.CommentDeleted(convoy=NAME, comment=5),
        ActionDone(key=f"comment:{NAME}/2", number=6),
        Answer(issue=7, comment=9, text="Task 2 is dropped.", by="ann", convoy=NAME),
    ).landed(1, sha("a"))
    rules.dropped(2, "not wanted").started(3)
    return rules.do(
        ending.AcceptNothing(convoy=NAME, task=3, attempt=1),
        ActionDone(key=f"pull:{NAME}/0", number=20),
        made(AttemptMerge, task=0, candidate=sha("a"), work=sha("a")),
        LandMerge(convoy=NAME, task=0, candidate=sha("a"), judged=("ci",)),
    )


def went_wrong() -> Rules:
    red = {"cause": "red", "why": "red"}
    doubt = made(DoubtMerge, candidate=sha("b"), is_red=True, checks=("ci",), why="red")
    rules = Rules().planned(spec(1), spec(2), spec(4, after=(2,)), attempts=2)
    rules.started(1).refused(1, "refused", why="a symlink")
    rules.started(1).accepted(1, sha("a")).offered(1, sha("b"), sha("0")).do(doubt)
    rules.offered(1, sha("d"), sha("0")).do(made(ClearMerge, candidate=sha("d")))
    rules.offered(1, sha("c"), sha("0")).started(2).accepted(2, sha("b"))
    rules.do(made(FailMerge, candidate=sha("c"), **red)).retried(1)
    rules.blocked(2, "no CI").do(
        made(people_events.ConvoyPaused), made(people_events.ConvoyResumed)
    )
    return rules.started(1).lost(1)


def given_up() -> Rules:
    return went_wrong().failed("cancelled by ann")


def reshaped() -> Rules:
    """Tell of a plan that people change before they let it be carried out."""
    rules = Rules().do(requested(settings=settings(planner="default", approve="plan")))
    first = (spec(1), spec(2))
    rules.do(_planning(rules, "1"), _planned(1, *first))
    rules.do(plan_events.ConvoyReplanned(convoy=NAME, by="bea", text="Smaller steps."))
    second = (spec(3), spec(4), spec(5, after=(4,)), spec(6))
    rules.do(_planning(rules, "2"), _planned(2, *second))
    parts = (spec(7, part_of=6), spec(8, part_of=6))
    return rules.do(
        plans.PartTask(convoy=NAME, task=6, parts=parts, by="bea"),
        people_events.ApprovePlan(convoy=NAME, by="ann"),
    )


def _planning(rules: Rules, session: str) -> StartTask:
    return made(StartTask, task=0, brief="Plan.", session=session * 32, now=rules.now)


def _planned(attempt: int, *tasks: TaskSpec) -> PlanConvoy:
    return PlanConvoy(convoy=NAME, planner="engine", tasks=tasks, attempt=attempt)


def steered() -> Rules:
    """Tell of a convoy in which people have their say at every turn."""
    engines = {name: EngineSpec(type="shell") for name in ("default", "docs")}
    given = {"engines": engines, "approve": "plan", "approvals": 1}
    thread = ReviewThread(comment=5, path="a.py", line=2, by="bea", says="0f")
    told, approved = people_events.TaskTold, people_events.TaskApproved
    out = made(hold_events.WorkTakenOut, gesture="closed", pull=11)
    rules = (
        Rules()
        .planned(spec(1), spec(2), **given)
        .do(
            made(plans.AddTask, spec=spec(3), by="bea"),
            made(plans.LinkTask, task=3, on=1, by="bea"),
            made(AllowPaths, task=3, by="bea", path="CLAUDE.md"),
            made(plans.AssignTask, task=2, engine="docs", by="bea"),
            made(told, by="bea", text="Keep the names."),
            made(retries.RaiseThreads, by="bea", text="Say `2`.", threads=(thread,)),
            made(plan_events.ConvoyRanked, priority=0, by="bea"),
            made(people_events.ApprovePlan),
            made(
                plan_events.SettingsTaken,
                settings=settings(engines=engines, failures=9),
            ),
            made(plan_events.TargetRenamed, branch="trunk"),
            made(hold_events.WorkHeld, task=0, label="brat:hold"),
            made(hold_events.WorkReleased, task=0),
            people_events.RepositoryPaused(by="bea"),
            people_events.RepositoryResumed(by="ann"),
            RequestIgnored(by="eve", comment=9),
            RequestIgnored(by="eve", sign="answer:review/10"),
        )
    )
    notes, shared = ("Names are kept.",), ("LANG=C",)
    rules.started(1).do(
        made(plan_events.TaskNoted, notes=notes, shared=shared),
        made(told, by="bea", text="The short ones."),
        made(people_events.TaskHeard, messages=1),
    )
    rules.accepted(1, sha("a")).do(
        ActionDone(key=ids.key("thread", NAME, 1, 1, 5), number=6),
        calls.CallPeople(convoy=NAME, text="@ann This waits for a person.", now=1),
        retries.ReviseTask(convoy=NAME, task=1, by="bea", text="Name it better."),
    )
    rules.started(1, sha("a")).accepted(1, sha("b")).pushed(sha("1")).do(
        made(people.RebaseWork, old=sha("b"), commit=sha("c"), base=sha("1"), by="bea"),
        made(hold_events.MergeWithdrawn, by="bea"),
        made(hold_events.MergeRequested, by="bea"),
        *(out, made(hold_events.WorkTakenBack)),
        *(out, made(hold_events.WorkTakenBack, by="bea")),
        ActionDone(key=f"pull:{NAME}/1", number=12),
        made(approved, commit="ccccccc", by="eve"),
        made(people_events.ApprovalVoided, by="eve", why="eve may not write"),
        made(approved, commit="ccccccc", by="bea"),
        made(approved, commit="ccccccc", by="cy"),
    )
    return rules.offered(1, sha("c"), sha("1"))


def ended_by_hand() -> Rules:
    """Tell of a convoy whose issue is closed, reopened, closed again and deleted."""
    closed = made(hold_events.IssueClosed, issue=7)
    pushed, taken = hold_events.BranchPushed, hold_events.BranchTaken
    rules = Rules().planned(spec(1), spec(2, after=(1,))).started(1)
    rules.do(closed, made(hold_events.IssueReopened, issue=7))
    rules.accepted(1, sha("a")).do(
        closed,
        made(people_events.ConvoyResumed),
        hold_events.BaseDeleted(convoy=NAME),
        hold_events.BaseRestored(convoy=NAME),
        made(pushed, commit=sha("b"), files=("a.py",), faults=("No.",)),
        hold_events.BranchReturned(convoy=NAME),
        pushed(convoy=NAME, commit=sha("c")),
        taken(convoy=NAME, commit=sha("c"), by="ann"),
        pushed(convoy=NAME, commit=sha("d")),
        taken(convoy=NAME, commit=sha("d"), by="", onto=sha("1")),
    )
    return rules.do(hold_events.IssueGone(convoy=NAME, issue=7, how="deleted"))


def found_out() -> Rules:
    """Tell of a convoy whose tasks change nothing."""
    rules = Rules().planned(spec(1, kind="scout"), spec(2, kind="report", after=(1,)))
    finding = Finding(title="A loop", detail="In it.", paths=("a.py",))
    report = Report(summary="It is slow.", findings=(finding,), open=("Why?",))
    for task in (1, 2):
        rules.started(task).do(made(ending.AcceptReport, task=task, report=report))
    return rules


def reviewed() -> Rules:
    """Tell of work that is looked at twice."""
    found = made(ending.AcceptReview, task=2, verdict="changes", text="Test it.")
    rules = Rules().planned(spec(1), spec(2, kind="review", on=(1,)))
    rules.started(1).accepted(1, sha("a")).started(2, sha("a")).do(found)
    rules.started(1, sha("a")).accepted(1, sha("b")).started(2, sha("b"))
    rules.do(replace(found, attempt=2, verdict="approve", text=""))
    return rules.offered(1, sha("b"), sha("0")).landed_as(1, sha("b"))


def tested_first() -> Rules:
    """Tell of tests that are seen red before there is code."""
    rules = Rules().planned(spec(1, kind="tests"), spec(2, on=(1,))).started(1)
    rules.accepted_quietly(1, sha("a"), "test_a.py").offered(1, sha("a"), sha("0"))
    rules.do(made(ProveWork, commit=sha("a")))
    rules.started(2, sha("a")).accepted(2, sha("b")).offered(2, sha("b"), sha("0"))
    return rules.landed_as(2, sha("b"))


def raced() -> Rules:
    """Tell of two that do the same, of which one lands."""
    rivals = (spec(1, kind="rival"), spec(2, kind="rival"))
    rules = Rules().planned(*rivals, spec(3, kind="choice", on=(1, 2)))
    for number, commit in ((1, sha("a")), (2, sha("b"))):
        rules.started(number).accepted_quietly(number, commit)
        rules.offered(number, commit, sha("0"))
        rules.do(made(ProveWork, task=number, commit=commit, lines=number))
    choice = {"attempt": 1, "on": 2, "text": "It is right."}
    rules.started(3).do(made(ending.MakeChoice, task=3, **choice))
    return rules.offered(2, sha("b"), sha("0")).landed_as(2, sha("b"))


def waited_aside() -> Rules:
    """Tell of a task and an action that were refused, and of another try at both."""
    rules = Rules().planned(spec(1))
    items = (task_item(NAME, 1), ids.item("convoy", NAME), ids.item("look", "comments"))
    for item in items:
        rules.do(ItemSetAside(item=item, why="the forge says no", helps="Ask it."))
        rules.do(ItemTakenUp(item=item), ItemSetAside(item=item, why="still no"))
        rules.do(ItemTakenUp(item=item, by="ann"))
    return rules


def merged_by_the_forge() -> Rules:
    """Tell of a target that wants pull requests, and of a review that was missing."""
    rules = Rules().planned(spec(1))
    landing = Landing(way="merge", reviews=1)
    rules.do(made(merge_events.LandingChosen, landing=landing)).landed(1, sha("a"))
    return rules.do(
        ActionDone(key=f"pull:{NAME}/0", number=20),
        made(AttemptMerge, task=0, candidate=sha("a"), work=sha("a")),
        merge_events.LandingWaits(convoy=NAME, why="1 approving review"),
        merge_events.LandingWaits(convoy=NAME, why=""),
        AskForge(convoy=NAME, candidate=sha("a"), judged=("ci",)),
        ActionDone(key=ids.key("land", NAME, sha("a")[:12]), number=20),
        merge_events.PullMergedEarly(convoy=NAME, pull=20),
        ActionDone(key=f"pull:{NAME}/0", number=21),
        NoteLanded(convoy=NAME, commit=sha("b"), judged=("ci",)),
    )


def synced() -> Rules:
    """Tell of a target that moves: it merges, is red twice, and CI never reports."""
    rules = Rules().planned(spec(1), spec(2)).landed(1, sha("a"))
    clean = AttemptSync(convoy=NAME, candidate=sha("b"), base=sha("a"), target=sha("1"))
    rules.do(clean, made(LandSync, candidate=sha("b")))
    for candidate in (sha("c"), sha("d")):
        rules.do(
            replace(clean, candidate=candidate, base=sha("b"), target=sha("2")),
            made(FailSync, candidate=candidate, target=sha("2"), why="red"),
        )
    rules.started(3, sha("e")).accepted(3, sha("f"))
    given = {"candidate": sha("7"), "base": sha("b"), "work": sha("f")}
    rules.do(made(AttemptMerge, task=3, target=sha("2"), **given))
    return rules.landed_as(3, sha("7")).do(
        replace(clean, candidate=sha("8"), base=sha("7"), target=sha("3")),
        merge_events.LandingStalled(convoy=NAME, why="no check has reported"),
        people.RetryConvoy(convoy=NAME, by="ann"),
    )


def followed() -> Rules:
    """Tell of sub-issues: one more, as before, closed, and a plan that follows."""
    one = SubIssue(issue=11, title="One", text="Do it.")
    two = SubIssue(issue=12, title="Two", kept_by="ann", after=(11,))
    rules = Rules().listed(one, two).do(FinishKept(convoy=NAME, task=2, by="ann"))
    three = SubIssue(issue=13, title="Three", text="Do it.", labels=("bug",))
    four = SubIssue(issue=14, title="Four", text="Do it.")
    done = replace(two, closed="completed")
    for at, listed in enumerate(((one, two, three), (one, two), (done, three))):
        rules.do(ProposeList(convoy=NAME, listed=listed, now=at))
    rules.do(FollowList(convoy=NAME, by="ann"))
    three = replace(three, after=(14,))
    rules.do(ProposeList(convoy=NAME, listed=(four, three), now=9))
    return rules.do(FollowList(convoy=NAME))


def written_back() -> Rules:
    """Tell of a plan whose tasks become sub-issues."""
    rules = Rules().planned(spec(1), sub_issues=True).do(WriteSubIssues(convoy=NAME))
    return rules.do(ActionDone(key=ids.key("issue", NAME, 1), number=12))


STORIES = (
    *(followed, written_back, landed_whole, went_wrong, given_up, steered),
    *(found_out, reviewed, tested_first, raced, waited_aside, ended_by_hand),
    *(synced, merged_by_the_forge, reshaped),
)
story = looped(*STORIES)
