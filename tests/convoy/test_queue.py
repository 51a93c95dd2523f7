"""The chain of candidates that wait to land, and what may land."""

from typing import Any

from msgspec.structs import replace

from convoy.events import decided, hold_events
from convoy.events.forge_actions import ActionDone
from convoy.events.merge_events import MergeLanded
from convoy.model import ids
from convoy.owed import Do
from convoy.rules import landing
from convoy.rules.people import DropTask
from convoy.rules.target import AskForge, FailSync, NoteLanded
from tests.convoy.room import due, in_review, why, with_task
from tests.world.cases import looped
from tests.world.rules import NAME, Rules, made, sha, spec

TIP = sha("0")
WHOLE = made(landing.AttemptMerge, task=0, candidate=sha("c"), work=sha("a"))


def red(candidate: str) -> landing.FailMerge:
    return made(landing.FailMerge, candidate=candidate, cause="red", why="red")


def test_each_candidate_stands_on_the_one_ahead() -> None:
    rules = in_review(1, 2, 3).offered(1, sha("a"), TIP).offered(2, sha("b"), sha("a"))

    queue = landing.chain(rules.convoy, TIP)

    assert [link.candidate.commit for link in queue.links] == [sha("a"), sha("b")]
    assert queue.onto == sha("b")
    assert [task.number for task in queue.unbuilt] == [3]
    rules.landed_as(1, sha("a"))
    queue = landing.chain(rules.convoy, sha("a"))
    assert [link.task.number for link in queue.links] == [2]
    assert [task.number for task in queue.unbuilt] == [3]

    many = in_review(*range(1, 6), max_parallel=3).convoy
    unbuilt = [task.number for task in landing.chain(many, TIP).unbuilt]
    assert unbuilt == [1, 2, 3], "no more than are judged at once"


def test_open_candidates_are_those_of_tasks_and_of_the_convoy() -> None:
    def candidates() -> list[str]:
        return [one.commit for one in landing.open_candidates(rules.convoy)]

    rules = in_review(1, 2).offered(1, sha("a"), TIP)
    assert candidates() == [sha("a")]
    rules.landed_as(1, sha("a")).dropped(2).do(WHOLE)
    assert candidates() == [sha("c")]
    rules.failed("cancelled")
    assert candidates() == []


def test_a_candidate_of_other_work_is_built_again() -> None:
    rules = in_review(1)
    offer = made(landing.AttemptMerge, candidate=sha("c"), work=sha("1"))
    assert "has changed" in why(rules.ask(replace(offer, work=sha("b"))))
    assert "already the candidate" in why(rules.do(offer).ask(offer))
    convoy, task = rules.convoy, rules.task(1)
    assert not landing.chain(convoy, TIP).unbuilt
    assert task.work is not None
    other = replace(task, work=replace(task.work, commit=sha("b")))
    assert landing.chain(replace(convoy, tasks=(other,)), TIP).unbuilt == (other,)

    whole = replace(offer, task=0)
    rules.landed_as(1, sha("c")).do(whole)
    assert "already the candidate" in why(rules.ask(whole))
    rules = in_review(1).offered(1, sha("c"), TIP).blocked(1, "no CI")
    assert rules.task(1).candidate is None


# --- what may land, and who is blamed: the current candidate, judged ------------------


def test_only_the_current_candidate_lands_or_is_blamed() -> None:
    rules = in_review(1).offered(1, sha("c"), TIP).offered(1, sha("d"), sha("1"))
    stale = landing.LandMerge(convoy=NAME, task=1, candidate=sha("c"), judged=("ci",))

    for command in (stale, red(sha("c"))):
        assert "no longer the candidate" in why(rules.ask(command))
    assert rules.ask(red(sha("d"))) is None

    rules = Rules().planned(spec(1)).landed(1, sha("a"))
    rules.do(WHOLE, replace(WHOLE, candidate=sha("d"), base=sha("1")))
    sync = FailSync(convoy=NAME, candidate=sha("c"), target=sha("1"), why="red")
    assert "no longer the candidate" in why(rules.ask(sync))
    assert rules.ask(replace(sync, candidate=sha("d"))) is None


@looped(
    ({}, ()),
    ({}, ("none",)),
    ({"checks": ("ci", "docs")}, ("ci",)),
    ({"require_ci": False}, ("ci",)),
)
def test_nothing_lands_unjudged(given: dict[str, Any], judged: tuple[str, ...]) -> None:
    rules = in_review(1, **given).offered(1, sha("c"), TIP)
    land = landing.LandMerge(convoy=NAME, task=1, candidate=sha("c"), judged=judged)

    assert "has not passed all" in why(rules.ask(land))


def test_nothing_lands_before_what_it_needs() -> None:
    rules = Rules().planned(spec(1), spec(2, after=(1,))).landed(1, sha("a"))
    rules.started(2).accepted(2, sha("b")).offered(2, sha("c"), sha("a"))
    land = landing.LandMerge(convoy=NAME, task=2, candidate=sha("c"), judged=("ci",))

    assert "merged before" in why(decided(land, with_task(rules.state, 1, "blocked")))
    assert rules.ask(land) is None


def test_work_added_after_a_merge_with_plain_git_is_shown() -> None:
    rules = Rules().planned(spec(1)).started(1).accepted_quietly(1, sha("a"))
    pull = f"pull:{NAME}/1"
    rules.offered(1, sha("a"), TIP).do(ActionDone(key=pull, number=0))
    assert pull not in rules.state.intents, "the branch had it: none was needed"

    rules.offered(1, sha("c"), TIP)

    assert pull in rules.state.intents


def test_red_work_goes_back_and_is_the_tasks_work_no_more() -> None:
    def sent_back(attempts: int) -> Rules:
        rules = in_review(1, attempts=attempts).offered(1, sha("c"), TIP)
        return rules.do(red(sha("c")))

    rules = sent_back(attempts=2)

    task = rules.task(1)
    assert (task.state, task.cause, task.work) == ("queued", "red", None)
    assert (task.candidate, task.pull) == (None, 11), "its pull request stays"
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
    assert "unfinished tasks" in why(rules.ask(WHOLE)), "the convoy itself waits"


def test_a_merge_that_a_person_made_needless_is_not_announced_for_ever() -> None:
    rules = Rules().planned(spec(1)).landed(1, sha("a"))
    rules.do(
        ActionDone(key=ids.key("pull", NAME, 0), number=20),
        WHOLE,
        AskForge(convoy=NAME, candidate=sha("c"), judged=("ci",)),
        hold_events.IssueClosed(convoy=NAME, issue=7),
    )
    merge = Do(rules.state.intents[ids.key("land", NAME, sha("c")[:12])])
    assert merge not in due(rules, {})

    rules.do(NoteLanded(convoy=NAME, commit=sha("b"), judged=("ci",)))

    assert rules.convoy.ended
    assert merge in due(rules, {})  # it finds that nothing is left to do
