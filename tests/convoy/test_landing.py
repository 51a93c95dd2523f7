"""What may land, and who is blamed: the current candidate, judged."""

from typing import Any

from msgspec.structs import replace

from convoy.events.forge_actions import ActionDone
from convoy.rules.landing import AttemptMerge, FailMerge, LandMerge
from convoy.rules.target import FailSync
from tests.convoy.room import why
from tests.world.cases import looped
from tests.world.rules import NAME, Rules, made, sha, spec


def test_only_the_current_candidate_lands() -> None:
    rules = Rules().planned(spec(1)).started(1).accepted(1, sha("a"))
    rules.offered(1, sha("c"), sha("0")).offered(1, sha("d"), sha("1"))
    stale = LandMerge(convoy=NAME, task=1, candidate=sha("c"), judged=("ci",))
    red = made(FailMerge, candidate=sha("c"), cause="red")

    for command in (stale, red):
        assert "no longer the candidate" in why(rules.ask(command))
    assert rules.ask(replace(red, candidate=sha("d"))) is None


def test_only_the_current_candidate_is_blamed() -> None:
    rules = Rules().planned(spec(1)).landed(1, sha("a"))
    whole = made(AttemptMerge, task=0, candidate=sha("c"), work=sha("a"))
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
    land = LandMerge(convoy=NAME, task=1, candidate=sha("c"), judged=judged)

    assert "has not passed all" in why(rules.ask(land))


def test_a_candidate_of_the_work_there_is_is_noted_once() -> None:
    rules = Rules().planned(spec(1)).started(1).accepted(1, sha("a"))
    offer = made(AttemptMerge, candidate=sha("c"), work=sha("a"))
    whole = replace(offer, task=0)

    assert "has changed" in why(rules.ask(replace(offer, work=sha("b"))))
    assert "already the candidate" in why(rules.do(offer).ask(offer))
    rules.do(LandMerge(convoy=NAME, task=1, candidate=sha("c"), judged=("ci",)))

    assert "already the candidate" in why(rules.do(whole).ask(whole))


def test_work_added_after_a_merge_with_plain_git_is_shown() -> None:
    rules = Rules().planned(spec(1)).started(1).accepted_quietly(1, sha("a"))
    pull = f"pull:{NAME}/1"
    rules.offered(1, sha("a"), sha("0")).do(ActionDone(key=pull, number=0))
    assert pull not in rules.state.intents, "the branch had it: none was needed"

    rules.offered(1, sha("c"), sha("0"))

    assert pull in rules.state.intents
