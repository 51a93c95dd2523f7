"""Rules that hold by themselves, though another one usually stands before them.

Each of these was broken without any other test noticing: docs/mutants.md.
"""

from typing import Any

from msgspec.structs import replace

from convoy.events import Command, decided, hold_events
from convoy.events.forge_actions import ActionDone
from convoy.events.leases import ExpireLease, TakeLease
from convoy.events.merge_events import MergeLanded
from convoy.events.people_events import ConvoyResumed
from convoy.events.plan_events import ConvoyRequested
from convoy.events.task_events import ConvoyFailed
from convoy.model import ids
from convoy.model.state import Convoy, State, Task, TaskState
from convoy.owed import BuildConvoy, CreateBase, Do, Hear, HearPush, Note
from convoy.rules.ending import AcceptNothing, AcceptWork, LoseSession, RefuseWork
from convoy.rules.landing import AttemptMerge, FailMerge, LandMerge, chain
from convoy.rules.people import BlockTask, DropTask
from convoy.rules.plans import PlanConvoy
from convoy.rules.retries import RetryTask
from convoy.rules.starting import StartTask
from convoy.rules.target import AskForge, NoteLanded
from tests.convoy.room import BASE, GREEN, begins, due, why
from tests.world.cases import looped
from tests.world.rules import (
    NAME,
    Rules,
    commands,
    made,
    requested,
    settings,
    sha,
    spec,
    startable,
)

HEADS = "refs/heads/"


def request(name: str, issue: int) -> ConvoyRequested:
    return requested(
        convoy=name, issue=issue, title="t", text="", settings=settings(max_sessions=2)
    )


def sent_back(attempts: int) -> Rules:
    """Return rules with a task whose first work was red."""
    rules = Rules().planned(spec(1), attempts=attempts)
    rules.started(1).accepted(1, sha("a")).offered(1, sha("c"), sha("0"))
    return rules.do(made(FailMerge, candidate=sha("c"), cause="red", why="red"))


def with_task(state: State, number: int, becomes: TaskState) -> State:
    """Return a state that no story leads to."""

    def changed(task: Task) -> Task:
        return replace(task, state=becomes) if task.number == number else task

    convoy = state.convoys[NAME]
    tasks = tuple(changed(task) for task in convoy.tasks)
    return replace(state, convoys=state.convoys.having(replace(convoy, tasks=tasks)))


def test_nothing_starts_that_needs_what_was_dropped() -> None:
    rules = Rules().planned(spec(1), spec(2, after=(1,)))

    def may_start(first: TaskState) -> bool:
        convoy: Convoy = with_task(rules.state, 1, first).convoys[NAME]
        return startable(convoy, rules.task(2))

    assert may_start("merged")
    assert not may_start("dropped")


def test_nothing_lands_before_what_it_needs() -> None:
    rules = Rules().planned(spec(1), spec(2, after=(1,))).landed(1, sha("a"))
    rules.started(2).accepted(2, sha("b")).offered(2, sha("c"), sha("a"))
    land = LandMerge(convoy=NAME, task=2, candidate=sha("c"), judged=("ci",))

    assert "merged before" in why(decided(land, with_task(rules.state, 1, "blocked")))
    assert rules.ask(land) is None


def test_a_candidate_of_other_work_is_built_again() -> None:
    rules = Rules().planned(spec(1)).started(1).accepted(1, sha("a"))
    convoy = rules.offered(1, sha("c"), sha("0")).convoy
    assert not chain(convoy, sha("0")).unbuilt
    task = rules.task(1)
    assert task.work is not None
    other = replace(task, work=replace(task.work, commit=sha("b")))

    assert chain(replace(convoy, tasks=(other,)), sha("0")).unbuilt == (other,)
    rules.blocked(1, "no CI")
    assert rules.task(1).candidate is None


def test_work_that_was_sent_back_is_the_tasks_work_no_more() -> None:
    rules = sent_back(attempts=2)

    assert (rules.task(1).work, rules.task(1).candidate) == (None, None)
    rules.started(1).accepted(1, sha("b"))
    assert f"pull:{NAME}/1" not in rules.state.intents, "it has one"

    rules = sent_back(attempts=1).retried(1)
    assert (rules.task(1).spent, rules.task(1).started) == (0, 1), "all are anew"


def test_a_task_lands_on_its_convoys_branch() -> None:
    rules = Rules().planned(spec(1), spec(2)).landed(1, sha("a"))

    landed = rules.noted(MergeLanded)

    assert [fact.branch for fact in landed] == [f"convoy/{NAME}/base"]
    drop = DropTask(convoy=NAME, task=1, why="not wanted")
    assert "already done" in why(rules.ask(drop))
    offer = made(AttemptMerge, task=0, candidate=sha("a"), work=sha("a"))
    assert "unfinished tasks" in why(rules.ask(offer)), "the convoy itself waits"


def test_a_name_is_taken_for_ever_and_an_end_is_an_end() -> None:
    fail = ConvoyFailed(convoy=NAME, why="cancelled")
    rules = Rules().planned(spec(1)).do(fail)

    assert "already exists" in why(rules.ask(request(NAME, 8)))
    assert "is failed" in why(rules.ask(fail))


def test_a_session_takes_the_place_of_what_has_run_out() -> None:
    rules = Rules().planned(spec(1, paths=("src/a.py",))).locked("path:src", 1)
    rules.now += 2_000

    assert list(rules.started(1).state.leases) == ["path:src/a.py"]


def test_a_session_that_ends_frees_only_what_it_holds() -> None:
    rules = Rules().planned(spec(1, needs=("port:1",)), spec(2, needs=("port:2",)))
    rules.started(1).started(2)

    rules.lost(1, "died")

    assert list(rules.state.leases) == ["port:2"]
    rules.do(AcceptNothing(convoy=NAME, task=2, attempt=1))
    assert not rules.state.leases
    assert rules.task(2).worked_ms > 0, "its time counts"


def test_a_late_note_of_a_dispatch_is_not_for_the_next_attempt() -> None:
    rules = Rules().planned(spec(1))
    start = made(StartTask, session="ab" * 16, now=0)
    lost = LoseSession(convoy=NAME, task=1, attempt=1, cause="lost", why="died")

    begun = rules.do(start).task(1).begun_at
    rules.do(lost, start, ActionDone(key=f"dispatch:{NAME}/1/1", number=5))
    assert rules.task(1).begun_at == begun, "since its first attempt"

    attempt = rules.attempt(1)
    assert (attempt.number, attempt.run) == (2, None)
    never = ActionDone(key="dispatch:of-nothing", number=5)  # nor was it announced
    assert never.change(rules.state) == rules.state


def test_what_has_run_out_is_swept() -> None:
    lock = TakeLease(resource="port:1", holder="ann", nonce="n", now=0, ttl_s=60)
    rules = Rules().do(lock)

    def swept(now: int) -> bool:
        return bool(commands(due(rules, {}, now), ExpireLease))

    assert not swept(now=59_999)
    assert swept(now=60_000)
    late = ExpireLease(resource="port:1", nonce="n", now=60_000)
    assert not rules.do(late).state.leases
    assert "free" in why(rules.ask(late)), "once"


def test_a_convoy_is_built_again_when_a_person_pushed_to_its_branch() -> None:
    rules = Rules().planned(spec(1)).landed(1, sha("a"))
    rules.do(
        ActionDone(key=f"pull:{NAME}/0", number=20),
        made(AttemptMerge, task=0, candidate=sha("a"), work=sha("a")),
    )
    refs = {HEADS + "main": sha("0"), BASE: sha("b")}
    green = {sha("a"): GREEN}

    owed = due(rules, refs, checks=green)
    assert HearPush(NAME, 0, sha("b")) in owed
    assert not any(isinstance(action, BuildConvoy) for action in owed)

    rules.do(hold_events.BranchPushed(convoy=NAME, commit=sha("b")))
    owed = due(rules, refs, checks=green)
    assert not any(isinstance(action, HearPush | BuildConvoy) for action in owed)
    refs[BASE] = sha("a")
    assert Note(None, hold_events.BranchReturned(convoy=NAME)) in due(
        rules, refs, checks=green
    )

    refs[BASE] = sha("b")
    rules.do(hold_events.BranchTaken(convoy=NAME, commit=sha("b")[:7], by="ann"))
    assert BuildConvoy(NAME, sha("0")) in due(rules, refs, checks=green)
    assert rules.convoy.put_back_by == "ann", "who answers for its landing"


def test_a_branch_that_was_deleted_comes_back_with_all_that_landed() -> None:
    rules = Rules().planned(spec(1), spec(2), spec(3))
    rules.landed(2, sha("a")).landed(1, sha("b"))

    owed = due(rules, {})
    assert Hear(None, hold_events.BaseDeleted(convoy=NAME)) in owed
    assert not any(isinstance(action, CreateBase) for action in owed)

    rules.do(hold_events.BaseDeleted(convoy=NAME), ConvoyResumed(convoy=NAME, by="ann"))
    assert CreateBase(NAME, sha("b")) in due(rules, {})


def test_a_convoy_without_its_branch_stays_paused_or_gets_it_back() -> None:
    deleted = hold_events.BaseDeleted(convoy=NAME)
    shut = Rules().planned(spec(1), spec(2)).landed(1, sha("a"))
    shut.do(
        hold_events.IssueClosed(convoy=NAME, issue=7),
        deleted,
        hold_events.IssueReopened(convoy=NAME, issue=7),
    )
    assert shut.convoy.state == "paused"
    assert shut.convoy.why.endswith("was deleted")

    ended = Rules().planned(spec(1), spec(2)).landed(1, sha("a"))
    ended.do(deleted, ConvoyFailed(convoy=NAME, why="cancelled", by="ann"))
    ended.taken_up()
    assert CreateBase(NAME, sha("a")) in due(ended, {})

    rules = Rules().planned(spec(1)).landed(1, sha("a"))
    assert ids.key("pull", NAME, 0) in rules.state.intents
    rules.failed("cancelled", "ann")
    assert ids.key("pull", NAME, 0) not in rules.state.intents, "it ended"


def test_a_merge_that_a_person_made_needless_is_not_announced_for_ever() -> None:
    rules = Rules().planned(spec(1)).landed(1, sha("a"))
    rules.do(
        ActionDone(key=ids.key("pull", NAME, 0), number=20),
        made(AttemptMerge, task=0, candidate=sha("a"), work=sha("a")),
        AskForge(convoy=NAME, candidate=sha("a"), judged=("ci",)),
        hold_events.IssueClosed(convoy=NAME, issue=7),
    )
    merge = Do(rules.state.intents[ids.key("land", NAME, sha("a")[:12])])
    assert merge not in due(rules, {})

    rules.do(NoteLanded(convoy=NAME, commit=sha("b"), judged=("ci",)))

    assert rules.convoy.ended
    assert merge in due(rules, {})  # it finds that nothing is left to do


def test_two_convoys_share_the_slots() -> None:
    rules = Rules().planned(spec(1), spec(2), max_sessions=2)
    rules.do(
        request("other-8", 8),
        PlanConvoy(convoy="other-8", planner="test", tasks=(spec(1), spec(2))),
    )
    names = (NAME, "other-8")
    refs = {f"{HEADS}convoy/{name}/base": sha("0") for name in names}

    begun = [(action.convoy, action.task) for action in begins(rules, refs)]
    assert begun == [(NAME, 1), ("other-8", 1)]


# --- a task that is given up while its session runs: the session still has to end -----


GIVEN_UP = (
    ConvoyFailed(convoy=NAME, why="cancelled by ann"),
    DropTask(convoy=NAME, task=1, why="not wanted"),
    BlockTask(convoy=NAME, task=1, why="no disk"),
)
FIRST: dict[str, Any] = {"convoy": NAME, "task": 1, "attempt": 1}
ENDS = (
    AcceptWork(**FIRST, commit=sha("a"), base=sha("0"), files=()),
    AcceptNothing(**FIRST),
    RefuseWork(**FIRST, cause="refused", why="a symlink"),
    LoseSession(**FIRST, cause="lost", why="it died"),
)


@looped(*ENDS)
@looped(*GIVEN_UP)
def test_what_is_given_up_while_it_runs_ends_without_a_trace(
    give_up: Command, end: Command
) -> None:
    rules = Rules().planned(spec(1, needs=("port:80",)), spec(2)).started(1)
    rules.do(give_up)
    given_up = rules.task(1)
    assert list(rules.state.running()) == [(rules.convoy, given_up)]
    assert rules.state.leases, "its session still holds it"

    rules.do(end)

    assert rules.task(1) == replace(
        given_up, attempt=None, worked_ms=rules.task(1).worked_ms
    )
    assert not rules.state.leases
    assert "not running" in why(rules.ask(end))


def test_the_next_attempt_waits_for_the_end_of_the_one_before() -> None:
    rules = Rules().planned(spec(1)).started(1)
    rules.do(GIVEN_UP[2], RetryTask(convoy=NAME, task=1, by="ann"))

    start = made(StartTask, session="ab" * 16, now=0)
    assert "waits for its previous session to end" in why(rules.ask(start))
    rules.do(ENDS[3])

    assert rules.task(1).state == "queued"
    assert rules.ask(start) is None
