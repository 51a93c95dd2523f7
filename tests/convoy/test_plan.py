from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from convoy import owed
from convoy.events import Refusal, decided, hold_events
from convoy.events.forge_actions import ActionDone, ItemSetAside, ItemTakenUp
from convoy.events.people_events import ConvoyResumed
from convoy.events.plan_events import ConvoyRanked
from convoy.log.record import packed, record
from convoy.model import ids
from convoy.model.ids import item, task_branch, task_item
from convoy.model.records import EngineSpec
from convoy.model.work import Convoys
from convoy.owed.owed import owed_actions
from convoy.rules.ending import AcceptWork
from convoy.rules.landing import AttemptMerge, FailMerge
from convoy.rules.observed import Observed, Run
from convoy.rules.plans import PlanConvoy
from convoy.rules.starting import StartTask
from convoy.rules.verdict import Checks, CiVerdict
from tests.convoy.room import BASE, GREEN, begins, due, in_review, refused
from tests.world.rules import (
    ACTOR,
    NAME,
    Rules,
    commands,
    made,
    open_pulls,
    requested,
    settings,
    sha,
    spec,
    task_branches,
)

QUEUE = f"refs/heads/brat/queue/convoy--{NAME}--base/"
ROOTS = {"refs/heads/main": sha("0"), BASE: sha("0")}


def owes(rules: Rules, **seen: object) -> list[owed.Action]:
    """Return what is owed, without what is always looked at."""
    looked: dict[str, object] = {"refs": ROOTS, **seen}
    for convoy in rules.state.convoys.values():
        looked.setdefault("pulls", open_pulls(convoy))
        looked["refs"] = {**task_branches(convoy), **looked["refs"]}  # type: ignore[dict-item]
    actions = due(rules, **looked)  # type: ignore[arg-type]
    return [action for action in actions if not isinstance(action, owed.Show | owed.Do)]


def numbers(actions: Sequence[object]) -> list[int]:
    return [action.task for action in actions if isinstance(action, owed.Begin)]


def test_ready_tasks_begin_at_the_tip_of_the_convoys_branch() -> None:
    rules = Rules().planned(spec(1), spec(2, after=(1,)), spec(3))

    assert owes(rules) == [owed.Begin(NAME, 1, sha("0")), owed.Begin(NAME, 3, sha("0"))]


def test_slots_are_never_overshot_and_an_engine_has_its_own() -> None:
    rules = Rules().planned(*(spec(n) for n in range(1, 9)), max_sessions=3)
    assert numbers(owes(rules)) == [1, 2, 3]
    assert numbers(owes(rules.started(1).started(2))) == [3]

    engines = {
        "default": EngineSpec(type="shell", max_sessions=1),
        "docs": EngineSpec(type="shell", max_sessions=2),
    }
    tasks = [spec(1), spec(2), *(spec(n, engine="docs") for n in (3, 4, 5))]
    assert numbers(owes(Rules().planned(*tasks, engines=engines))) == [1, 3, 4]


def with_another(*tasks: int, **given: object) -> tuple[Rules, dict[str, str]]:
    """Return two convoys of such tasks, the second without a plan, and their refs."""
    rules = Rules().planned(*map(spec, tasks), **given)
    other = requested(convoy="late-8", issue=8, settings=settings(**given))
    refs = {f"refs/heads/convoy/{name}/base": sha("0") for name in (NAME, "late-8")}
    return rules.do(other), refs


def test_two_convoys_share_the_slots() -> None:
    rules, refs = with_another(1, 2, max_sessions=2)
    plan = PlanConvoy(convoy="late-8", planner="test", tasks=(spec(1), spec(2)))

    begun = [(each.convoy, each.task) for each in begins(rules.do(plan), refs)]

    assert begun == [(NAME, 1), ("late-8", 1)]


def test_a_convoy_of_a_higher_priority_starts_first() -> None:
    rules, refs = with_another(1, max_sessions=1)
    rank = ConvoyRanked(convoy="late-8", priority=0, by="bea")
    plan = PlanConvoy(convoy="late-8", planner="test", tasks=(spec(1),))
    rules.do(rank)
    assert refused(rules, rank) == "late-8 already has priority p0"

    begun = begins(rules.do(plan), refs)

    assert [each.convoy for each in begun] == ["late-8"]


def test_a_run_that_ended_is_collected_and_a_late_one_cancelled() -> None:
    rules = Rules().planned(spec(1)).started(1)
    run = Run(id=101, completed=True)

    assert owes(rules, runs={101: run}) == [owed.Collect(NAME, 1, 101)]
    off = replace(run, conclusion="cancelled")
    assert owes(rules, runs={101: off}) == [owed.Collect(NAME, 1, 101, called_off=True)]
    attempt, pace = rules.task(1).attempt, owed.Patience()
    assert attempt is not None
    limits = rules.state.convoys[NAME].settings
    longest_s = limits.engines["default"].timeout_s + limits.limits.setup_s
    late = attempt.at + 1000 * (longest_s + pace.session_slack_s)
    runs = {101: replace(run, completed=False)}

    rules.now = late
    assert owes(rules, runs=runs) == []
    rules.now = late + 1
    assert owes(rules, runs=runs) == [owed.CancelRun(101)]
    assert owes(rules, runs={101: off}) == [owed.Collect(NAME, 1, 101)]
    rules.now = late + 1000 * pace.force_s
    assert owes(rules, runs=runs) == [owed.CancelRun(101)]
    rules.now += 1
    assert owes(rules, runs=runs) == [owed.CancelRun(101, force=True)]


def test_a_run_of_a_task_that_was_given_up_is_cancelled_and_holds_its_slot() -> None:
    rules = Rules().planned(spec(1), spec(2), max_sessions=1).started(1).dropped(1)
    run = Run(id=101, completed=False)

    assert owes(rules, runs={101: run}) == [owed.CancelRun(101)]
    ended = replace(run, completed=True)
    assert owes(rules, runs={101: ended}) == [owed.Collect(NAME, 1, 101)]


def test_a_run_the_forge_has_forgotten_is_given_up_after_its_deadline() -> None:
    rules = Rules().planned(spec(1)).started(1)

    assert owes(rules) == []
    rules.now += 10**8

    assert owes(rules) == [owed.Collect(NAME, 1, 101)]

    rules = Rules().planned(spec(1))
    rules.do(made(StartTask, session="ab" * 16, now=0))
    rules.now += 10**8  # no bot was up: it counts from the dispatch
    rules.do(ActionDone(key=f"dispatch:{NAME}/1/1", number=101))
    assert owes(rules, runs={101: Run(id=101, completed=False)}) == []


def test_a_green_front_is_aligned_then_landed() -> None:
    rules = in_review(1, 2).offered(1, sha("a"), sha("0"))
    rules.offered(2, sha("b"), sha("a"))
    checks = {sha("a"): GREEN, sha("b"): GREEN}
    branch = f"refs/heads/convoy/{NAME}/task-"
    refs = {**ROOTS, f"{branch}1": sha("a"), f"{branch}2": sha("b")}

    assert owes(rules, checks=checks) == [owed.Align(NAME, (1, 2))]
    unseen = owes(rules, checks=checks, refs=refs, pulls={})
    assert not any(isinstance(action, owed.Land) for action in unseen)
    done = owes(rules, checks=checks, refs=refs)
    assert done == [owed.Land(NAME, (1, 2), sha("0"))]

    pending = {**checks, sha("a"): Checks(verdict="pending")}
    assert owes(rules, checks=pending) == [], "it is behind what is not judged"
    merged = in_review(1, strategy="merge").offered(1, sha("a"), sha("0"))
    assert owes(merged, checks=checks) == [owed.Land(NAME, (1,), sha("0"))]


def test_what_is_pushed_to_a_task_set_aside_is_heard_with_its_next_try() -> None:
    """Else the refusal of what keeps the push would be met again at once."""
    rules, heard = in_review(1), owed.HearPush(NAME, 1, sha("9"))
    moved = {**ROOTS, f"refs/heads/{task_branch(NAME, 1)}": sha("9")}
    assert heard in owes(rules, refs=moved)
    rules.do(ItemSetAside(item=task_item(NAME, 1), why="the forge says no"))
    assert heard not in owes(rules, refs=moved)

    rules.do(ItemTakenUp(item=task_item(NAME, 1)))

    assert heard in owes(rules, refs=moved)


def test_without_required_ci_a_candidate_lands_unjudged_and_nobody_is_blamed() -> None:
    rules = in_review(1, require_ci=False, strategy="merge")
    assert owes(rules.offered(1, sha("a"), sha("0"))) == [
        owed.Land(NAME, (1,), sha("0"))
    ]

    rules = Rules().planned(spec(1), require_ci=False).started(1)
    rules.accepted_quietly(1, sha("a")).offered(1, sha("a"), sha("0"))
    rules.now += 10**6
    assert rules.task(1).pull is None

    verdicts: tuple[CiVerdict, ...] = ("red", "none")
    for verdict in verdicts:
        checks = {sha("a"): Checks(verdict=verdict)}
        assert owes(rules, checks=checks) == []


def test_work_lands_only_after_the_push_that_shows_it() -> None:
    rules = in_review(1, require_ci=False, strategy="merge")
    rules.do(FailMerge(convoy=NAME, task=1, candidate=None, cause="conflict", why="no"))
    rules.started(1)
    state = rules.state
    for command in (
        made(AcceptWork, attempt=2, commit=sha("a")),
        made(AttemptMerge, candidate=sha("c"), work=sha("a")),
    ):
        decision = decided(command, state)
        assert not isinstance(decision, Refusal)
        state, _ = record(state, decision, actor=ACTOR, at=rules.now)
        rules.do(command)

    refs = {**ROOTS, **task_branches(rules.convoy)}
    seen = Observed(refs=refs, pulls=open_pulls(rules.convoy))
    drafted = owed_actions(state, seen, owed.Patience(), rules.now)

    assert not any(isinstance(action, owed.Land) for action in drafted)
    assert owes(rules) == [owed.Land(NAME, (1,), sha("0"))]


def test_queue_branches_of_closed_candidates_are_swept() -> None:
    rules = in_review(1).offered(1, sha("a"), sha("0"))
    refs = {**ROOTS, QUEUE + sha("a"): sha("a"), QUEUE + sha("b"): sha("b")}

    assert owes(rules, refs=refs) == [owed.Sweep(((QUEUE + sha("b"), sha("b")),))]


def test_branches_of_what_landed_go_an_hour_later_unless_there_is_more_on_them() -> (
    None
):
    rules = Rules().planned(spec(1), spec(2)).landed(1, sha("a"))
    rules.started(2).accepted(2, sha("b")).dropped(2)
    whole = made(AttemptMerge, task=0, candidate=sha("a"), work=sha("a"))
    state = rules.do(whole).landed_as(0, sha("a")).state
    ours, one, two = (ids.HEADS + ids.branch_of(NAME, number) for number in range(3))
    main = "refs/heads/main"
    refs = {main: sha("a"), ours: sha("a"), one: sha("a"), two: sha("b")}

    def swept(refs: dict[str, str], later: int = ids.HOUR_MS) -> list[owed.Action]:
        seen, now = Observed(refs=refs), state.convoys[NAME].ended_at + later
        found = [owed_actions(each, seen, owed.Patience(), now) for each in both]
        assert found[0] == found[1]
        return [action for action in found[0] if isinstance(action, owed.Sweep)]

    both = (state, packed(state))
    assert swept(refs, ids.HOUR_MS - 1) == []
    assert swept(refs) == [owed.Sweep(((ours, sha("a")), (one, sha("a"))))]
    pushed = {main: sha("a"), ours: sha("c"), one: sha("d"), two: sha("b")}
    assert swept(pushed) == []


def test_a_convoy_is_built_again_when_a_person_pushed_to_its_branch() -> None:
    rules = Rules().planned(spec(1)).landed(1, sha("a"))
    whole = made(AttemptMerge, task=0, candidate=sha("a"), work=sha("a"))
    rules.do(ActionDone(key=f"pull:{NAME}/0", number=20), whole)

    def seen(tip: str) -> tuple[owed.Action, ...]:
        return due(rules, {**ROOTS, BASE: sha(tip)}, checks={sha("a"): GREEN})

    assert owed.HearPush(NAME, 0, sha("b")) in seen("b")
    assert not any(isinstance(action, owed.BuildConvoy) for action in seen("b"))

    rules.do(hold_events.BranchPushed(convoy=NAME, commit=sha("b")))
    assert not any(
        isinstance(each, owed.HearPush | owed.BuildConvoy) for each in seen("b")
    )
    assert owed.Note(None, hold_events.BranchReturned(convoy=NAME)) in seen("a")

    rules.do(hold_events.BranchTaken(convoy=NAME, commit=sha("b")[:7], by="ann"))
    assert owed.BuildConvoy(NAME, sha("0")) in seen("b")
    assert rules.convoy.put_back_by == "ann", "who answers for its landing"


DELETED = hold_events.BaseDeleted(convoy=NAME)


def test_a_branch_that_was_deleted_comes_back_with_all_that_landed() -> None:
    rules = Rules().planned(spec(1), spec(2), spec(3))
    rules.landed(2, sha("a")).landed(1, sha("b"))
    seen = due(rules, {})
    assert owed.Hear(None, DELETED) in seen
    assert not any(isinstance(action, owed.CreateBase) for action in seen)
    rules.do(DELETED, ConvoyResumed(convoy=NAME, by="ann"))
    assert owed.CreateBase(NAME, sha("b")) in due(rules, {})

    closed = made(hold_events.IssueClosed, issue=7)
    reopened = made(hold_events.IssueReopened, issue=7)
    shut = Rules().planned(spec(1), spec(2)).landed(1, sha("a"))
    shut.do(closed, DELETED, reopened)
    assert shut.convoy.state == "paused"
    assert shut.convoy.why.endswith("was deleted")

    ended = Rules().planned(spec(1), spec(2)).landed(1, sha("a")).do(DELETED)
    ended.failed("cancelled", "ann").taken_up()
    assert owed.CreateBase(NAME, sha("a")) in due(ended, {})

    rules, key = Rules().planned(spec(1)).landed(1, sha("a")), f"pull:{NAME}/0"
    assert key in rules.state.intents
    assert key not in rules.failed("cancelled", "ann").state.intents, "it ended"


def test_beside_a_broken_convoy_all_others_are_served_and_no_other_fault_is_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rules = Rules().planned(spec(1), spec(2, after=(1,)))
    alone, convoy = due(rules, {}), rules.convoy
    odd = replace(convoy.tasks[0].spec, kind="none that is known")
    task = replace(convoy.tasks[0], spec=odd)
    broken = replace(convoy, name="broken", issue=99, tasks=(task,))
    both = Convoys({"broken": broken, **rules.state.convoys})
    rules.state = replace(rules.state, convoys=both)

    found = due(rules, {})

    (aside,) = commands(found, ItemSetAside)
    assert aside.item == item("convoy", "broken")
    assert aside.why.startswith("a bug in brat: KeyError")
    assert set(alone) <= set(found)

    def fails(*_: object) -> None:
        raise LookupError("nobody's")

    monkeypatch.setattr("convoy.owed.owed._effects", fails)
    with pytest.raises(LookupError, match="nobody's"):
        due(rules, {})
