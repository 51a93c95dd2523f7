from msgspec.structs import replace

from convoy.model.records import NamedIssue, SubIssue
from convoy.owed import BuildSync
from convoy.rules.sub_issues import (
    MOST_SUB_ISSUES,
    FinishKept,
    FollowList,
    ProposeList,
    changes,
    list_fault,
    may_follow,
    named_by,
    planned,
    tasks_of,
)
from convoy.rules.target import AttemptSync, LandSync
from tests.convoy.room import BASE, due
from tests.world.cases import looped
from tests.world.rules import NAME, Rules, made, sha


def sub(issue: int, *after: int, **more: object) -> SubIssue:
    fields = {"title": f"Issue {issue}", "text": "Do it.", **more}
    return SubIssue(issue=issue, after=after, **fields)  # type: ignore[arg-type]


def edges(*listed: SubIssue) -> list[tuple[int, tuple[int, ...]]]:
    """Return the issues with those that their tasks wait for, by number."""
    named = named_by(listed)
    issues = {each.task: each.issue for each in named}
    tasks = planned("Whole", "", listed, named)
    return [(issues[t.number], tuple(issues[n] for n in t.after)) for t in tasks]


def test_the_order_is_that_of_blockers_and_steps_come_before_their_parent() -> None:
    epic = sub(3, 1)
    listed = (sub(1), sub(2), epic, sub(4, step_of=3), sub(5, 4, step_of=3), sub(6, 3))

    assert edges(*listed) == [
        *((1, ()), (2, ()), (4, (1,)), (5, (1, 4)), (3, (1, 4, 5)), (6, (3,)))
    ]
    bare = replace(epic, text=" ")
    assert edges(*(bare if each is epic else each for each in listed)) == [
        *((1, ()), (2, ()), (4, (1,)), (5, (1, 4)), (6, (4, 5)))
    ]


def test_no_text_of_an_issue_chooses_anything() -> None:
    text = "```\n- [ ] closes #9\npaths: a.py\n(after 2)\nengine: x\n````\nFixes #9"
    listed = (sub(11, text=text, title="(after 2) paths: b.py"), sub(12))
    named = named_by(listed)
    one, _ = planned("Whole", "closes #9", listed, named)

    assert named == (NamedIssue(1, 11), NamedIssue(2, 12))
    assert (one.after, one.paths, one.engine) == ((), (), "default")
    assert f"`````\n{one.title.removesuffix(' (#11)')}\n\n{text}\n`````" in (
        one.instructions
    )


@looped(
    ((sub(1, 2), sub(2, 1)), "in a cycle: #1, #2, #1"),
    ((sub(1), sub(2, 1, step_of=1), sub(3, 9)), "#3 is blocked by #9, which is"),
    ((sub(1), sub(2, away="octo/app#7")), "#2 is blocked by octo/app#7, which is"),
    ((sub(1), sub(2, 1, step_of=1)), "a cycle"),
    (tuple(map(sub, range(1, MOST_SUB_ISSUES + 2))), "more than 50 open"),
    ((sub(1), sub(2, 1)), ""),
)
def test_what_is_no_plan_is_said(listed: tuple[SubIssue, ...], told: str) -> None:
    assert (told in list_fault(listed)) if told else not list_fault(listed)


def test_a_persons_issue_waits_for_them_and_ends_with_their_closing() -> None:
    rules = Rules().listed(sub(11), sub(12, 11, kept_by="ann"), sub(13, 12))
    done = FinishKept(convoy=NAME, task=2, by="ann")

    assert rules.states == ["queued", "blocked", "queued"]
    assert "#12 is assigned to ann" in rules.task(2).why
    assert rules.do(done).task(2).state == "merged"
    assert rules.ask(done) is not None
    rules = Rules().listed(sub(12, kept_by="ann"), sub(13, 12))
    rules.do(replace(done, task=1, target=rules.convoy.base))
    assert rules.startable(2), "it was done elsewhere"


@looped("", sha("2"), sha("3"))
def test_what_needs_a_persons_work_waits_until_the_branch_holds_it(built: str) -> None:
    """A candidate that takes in an older target is given up for the person's."""
    tip, theirs = sha("a"), sha("3")
    listed = (sub(11), sub(12, kept_by="ann"), sub(13, 12), sub(14))
    rules = Rules().listed(*listed, sync=False).landed(1, tip)
    sync = AttemptSync(convoy=NAME, candidate=sha("c"), base=tip, target=built)
    if built:
        rules.do(sync)
    rules.do(FinishKept(convoy=NAME, task=2, by="ann", target=theirs))

    waits = "main to be merged into the convoy branch (main contains task 2)"
    assert rules.waits(3) == waits
    assert f"it is waiting for {waits}" in rules.reasons(3)
    assert [rules.startable(number) for number in (3, 4)] == [False, True]
    found = due(rules, {"refs/heads/main": theirs, BASE: tip})
    assert (BuildSync(NAME, theirs) in found) == (built != theirs)
    if built != theirs:
        rules.do(replace(sync, target=theirs))
    rules.do(made(LandSync, candidate=sha("c")))
    assert rules.startable(3)
    assert rules.waits(3) == "a free slot"


BEFORE = (sub(11), sub(12, 11), sub(13))


@looped(
    (BEFORE, (), {}),
    ((*BEFORE, sub(14, 13)), ("#14 (Issue 14) was added",), {4: (3,)}),
    ((sub(11), sub(12, 11)), ("#13 was removed",), {3: "dropped"}),
    (
        (sub(11), sub(12), sub(13, 12)),
        ("#12 is no longer blocked by #11", "#13 is blocked by #12"),
        {2: (), 3: (2,)},
    ),
    (
        (sub(11, closed="completed"), sub(12), sub(13)),
        ("#11 was closed as completed",),
        {1: "merged", 2: ()},
    ),
    (
        (sub(11, closed="not_planned"), sub(12), sub(13)),
        ("#11 was closed as not planned",),
        {1: "dropped", 2: ()},
    ),
    (
        (sub(11), sub(12, 11, kept_by="eve"), sub(13)),
        ("#12 is assigned to eve",),
        {2: "blocked"},
    ),
    ((sub(13), sub(11), sub(12, 11)), ("the order is now #13, #11, #12",), {}),
)
def test_a_change_is_shown_and_taken_in_when_somebody_agrees(
    now: tuple[SubIssue, ...], told: tuple[str, ...], after: dict[int, object]
) -> None:
    follow = FollowList(convoy=NAME, by="ann")
    rules = Rules().listed(*BEFORE)
    assert changes(rules.convoy, now) == told
    asked = rules.ask(ProposeList(convoy=NAME, listed=now, now=1))
    assert (asked is None) == bool(told)
    assert rules.states == ["queued"] * 3, "not yet"
    assert (rules.ask(follow) is None) == bool(told)

    for number, wanted in after.items():
        task = rules.task(number)
        assert wanted in (task.state, task.spec.after)
    assert changes(rules.convoy, now) == ()
    assert rules.ask(follow) is not None, "twice is once"
    order = [each.issue for each in now if not each.closed]
    assert [n.issue for n in rules.convoy.named if n.issue in order] == order


def proposed(rules: Rules, *listed: SubIssue) -> Rules:
    return rules.do(ProposeList(convoy=NAME, listed=listed, now=rules.now))


def test_a_blocker_of_another_repository_that_appears_is_told() -> None:
    rules = Rules().listed(*BEFORE)
    proposed(rules, *BEFORE[:2], replace(BEFORE[2], away="octo/app#7"))

    [said] = [intent.text for intent in rules.state.intents.values() if intent.text]
    assert "- #13 is blocked by octo/app#7\n" in said
    assert "The plan does not change: #13 is blocked by octo/app#7, which is" in said
    assert not proposed(rules, *BEFORE).convoy.proposed


def test_an_issue_that_is_reopened_after_its_task_was_dropped_gets_another() -> None:
    rules = Rules().listed(*BEFORE)
    for now, state, told in (
        (replace(BEFORE[2], closed="not_planned"), "dropped", "#13 was closed as"),
        (BEFORE[2], "queued", "#13 was reopened"),
    ):
        listed = (*BEFORE[:2], now)
        (said,) = changes(rules.convoy, listed)
        assert said.startswith(told)
        proposed(rules, *listed).do(FollowList(convoy=NAME, by="ann"))
        number = {each.issue: each.task for each in rules.convoy.named}[13]
        assert rules.task(number).state == state
        assert changes(rules.convoy, listed) == ()


def test_what_has_begun_goes_on_and_what_is_landing_takes_nothing_more_in() -> None:
    follow = FollowList(convoy=NAME, by="ann")
    rules = proposed(Rules().listed(*BEFORE).started(1), *BEFORE[1:])
    assert rules.ask(follow) is not None, "#12 waits for what is gone"
    proposed(rules, sub(12), sub(13)).do(follow)
    assert rules.task(1).state == "running"
    now = rules.convoy
    assert tasks_of(11, now.listed, now.named) == (1,), "it is still its issue"

    rules = proposed(Rules().listed(sub(11)).landed(1, sha("a")), sub(11), sub(12))
    assert rules.convoy.settled
    assert not may_follow(rules.convoy)
    assert "it is landing" in str(rules.ask(follow))
