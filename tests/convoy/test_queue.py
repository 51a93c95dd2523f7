"""The chain of candidates that wait to land, and what may land."""

from typing import Any

from msgspec.structs import replace

from convoy.events.forge_actions import ActionDone
from convoy.rules import landing
from convoy.rules.target import FailSync
from tests.convoy.room import in_review, why
from tests.world.cases import looped
from tests.world.rules import NAME, Rules, made, sha, spec

TIP = sha("0")


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


def test_only_the_window_is_built() -> None:
    convoy = in_review(*range(1, 6)).convoy
    convoy = replace(convoy, settings=replace(convoy.settings, max_parallel=3))

    queue = landing.chain(convoy, TIP)

    assert [task.number for task in queue.unbuilt] == [1, 2, 3]


def test_open_candidates_are_those_of_tasks_and_of_the_convoy() -> None:
    rules = in_review(1, 2).offered(1, sha("a"), TIP)
    assert [one.commit for one in landing.open_candidates(rules.convoy)] == [sha("a")]
    rules.landed_as(1, sha("a"))
    rules.dropped(2)
    whole = made(landing.AttemptMerge, task=0, candidate=sha("c"), work=sha("a"))

    assert [one.commit for one in landing.open_candidates(rules.do(whole).convoy)] == [
        sha("c")
    ]
    rules.failed("cancelled")

    assert not [*landing.open_candidates(rules.convoy)]


# --- what may land, and who is blamed: the current candidate, judged ------------------


def test_only_the_current_candidate_lands() -> None:
    rules = Rules().planned(spec(1)).started(1).accepted(1, sha("a"))
    rules.offered(1, sha("c"), sha("0")).offered(1, sha("d"), sha("1"))
    stale = landing.LandMerge(convoy=NAME, task=1, candidate=sha("c"), judged=("ci",))
    red = made(landing.FailMerge, candidate=sha("c"), cause="red")

    for command in (stale, red):
        assert "no longer the candidate" in why(rules.ask(command))
    assert rules.ask(replace(red, candidate=sha("d"))) is None


def test_only_the_current_candidate_is_blamed() -> None:
    rules = Rules().planned(spec(1)).landed(1, sha("a"))
    whole = made(landing.AttemptMerge, task=0, candidate=sha("c"), work=sha("a"))
    rules.do(whole, replace(whole, candidate=sha("d"), base=sha("1")))
    stale = FailSync(convoy=NAME, candidate=sha("c"), target=sha("1"), why="red")

    assert "no longer the candidate" in why(rules.ask(stale))
    assert rules.ask(replace(stale, candidate=sha("d"))) is None


@looped(
    ({}, ()),
    ({}, ("none",)),
    ({"checks": ("ci", "docs")}, ("ci",)),
    ({"require_ci": False}, ("ci",)),
)
def test_nothing_lands_unjudged(given: dict[str, Any], judged: tuple[str, ...]) -> None:
    rules = Rules().planned(spec(1), **given).started(1).accepted(1, sha("a"))
    rules.offered(1, sha("c"), sha("0"))
    land = landing.LandMerge(convoy=NAME, task=1, candidate=sha("c"), judged=judged)

    assert "has not passed all" in why(rules.ask(land))


def test_a_candidate_of_the_work_there_is_is_noted_once() -> None:
    rules = Rules().planned(spec(1)).started(1).accepted(1, sha("a"))
    offer = made(landing.AttemptMerge, candidate=sha("c"), work=sha("a"))
    whole = replace(offer, task=0)

    assert "has changed" in why(rules.ask(replace(offer, work=sha("b"))))
    assert "already the candidate" in why(rules.do(offer).ask(offer))
    rules.landed_as(1, sha("c"))

    assert "already the candidate" in why(rules.do(whole).ask(whole))


def test_work_added_after_a_merge_with_plain_git_is_shown() -> None:
    rules = Rules().planned(spec(1)).started(1).accepted_quietly(1, sha("a"))
    pull = f"pull:{NAME}/1"
    rules.offered(1, sha("a"), sha("0")).do(ActionDone(key=pull, number=0))
    assert pull not in rules.state.intents, "the branch had it: none was needed"

    rules.offered(1, sha("c"), sha("0"))

    assert pull in rules.state.intents
