"""What is finished of a convoy lands while its other tasks go on."""

import pytest

from convoy.events import Refusal
from convoy.events.forge_actions import NoteDone, SetItemAside
from convoy.events.merge_events import UNJUDGED
from convoy.events.target_events import ChooseLanding, PartLanded
from convoy.model.ids import part_item
from convoy.model.work import Landing
from convoy.owed import (
    Action,
    AskMerge,
    Build,
    BuildConvoy,
    BuildSync,
    Do,
    DropPart,
    LandConvoy,
    LandPart as Land,
    OfferPart as Offer,
    Patience,
    TakePart,
    Wait,
)
from convoy.owed.last_step import LEFT_QUEUE
from convoy.owed.owed import owed_actions
from convoy.rules import head_branch
from convoy.rules.landing import AttemptMerge, LandMerge, holds_own_work
from convoy.rules.people import DropTask, FailConvoy, RetryConvoy
from convoy.rules.target import (
    AskForge,
    AttemptSync,
    FailPart,
    LandPart,
    LandSync,
    NotePart,
    OfferPart,
    RequestPart,
)
from convoy.rules.verdict import Checks, Mergeable, Observed
from convoy.views.reasons import about_parts
from tests.world.rules import NAME, Rules, sha, spec

START, TIP, MORE, MOVED = sha("0"), sha("a"), sha("b"), sha("1")
GREEN = Checks(verdict="green", names=("ci",))
RED = Checks(verdict="red", names=("ci",), text="ci: 1 failed")
ONCE = RequestPart(convoy=NAME, by="ann")


def begun(*more: int, **given: object) -> Rules:
    """Return rules with task 1 merged and more planned."""
    rules = Rules().planned(spec(1), *map(spec, more), **given)
    return rules.landed(1, TIP)


LANDING = (Build, BuildConvoy, BuildSync, DropPart, Land)


def owed(
    rules: Rules,
    *,
    target: str = START,
    tip: str = TIP,
    kinds: tuple[type[Action], ...] = LANDING,
    **checks: Checks,
) -> list[Action]:
    refs = {"refs/heads/main": target, f"refs/heads/convoy/{NAME}/base": tip}
    known = {sha(letter): found for letter, found in checks.items()}
    observed = Observed(refs=refs, checks=known)
    found = owed_actions(rules.state, observed, Patience(), rules.now)
    return [action for action in found if isinstance(action, kinds)]


def offered(rules: Rules, commit: str = TIP, target: str = START) -> Rules:
    """Offer the tip of the convoy's branch to the target, as a part."""
    offer = AttemptMerge(
        convoy=NAME, task=0, candidate=commit, base=target, work=commit
    )
    return rules.do(offer)


def land(commit: str = TIP, *tasks: int) -> LandPart:
    return LandPart(convoy=NAME, candidate=commit, tasks=tasks, judged=("ci",))


def landed(rules: Rules) -> Rules:
    """Land task 1 as a part."""
    rules.ask(ONCE)  # it may be asked for already
    return offered(rules).do(land(TIP, 1))


# --- when -----------------------------------------------------------------------------


def test_a_convoy_lands_as_a_whole_unless_somebody_says_so() -> None:
    rules = begun(2)

    assert owed(rules) == []
    rules.do(ONCE)
    assert owed(rules) == [BuildConvoy(NAME, START)]


def test_with_parts_what_is_finished_lands_by_itself_each_time() -> None:
    rules = begun(2, 3, land="parts")

    assert owed(rules) == [BuildConvoy(NAME, START)]
    offered(rules)
    assert owed(rules) == []  # CI has not said yet that it is green
    assert owed(rules, a=GREEN) == [Land(NAME, START)]
    rules.do(land(TIP, 1))
    assert owed(rules, target=TIP) == []

    rules.started(2).accepted(2, MORE).offered(2, MORE, TIP).landed_as(2, MORE)
    assert owed(rules, target=TIP, tip=MORE) == [BuildConvoy(NAME, TIP)]
    offered(rules, MORE, TIP).do(land(MORE, 2))
    assert rules.convoy.parts.tasks == (1, 2)
    assert rules.convoy.parts.count == 2


def test_a_part_does_not_end_the_convoy() -> None:
    rules = landed(begun(2, land="parts"))

    assert rules.convoy.state == "active"
    assert [t.state for t in rules.convoy.tasks] == ["merged", "queued"]
    assert not holds_own_work(rules.convoy)


def test_what_ci_judges_meanwhile_is_not_built_again_for_a_part() -> None:
    rules = begun(2, land="parts").started(2).accepted(2, MORE).offered(2, MORE, TIP)
    landed(rules)

    assert owed(rules, target=TIP) == []  # task 2's candidate stands where it stood


def test_a_target_that_moved_is_taken_in_before_a_part_lands() -> None:
    rules = begun(2).do(ONCE)

    assert owed(rules, target=MOVED) == [BuildSync(NAME, MOVED)]
    merge = sha("d")
    rules.do(AttemptSync(convoy=NAME, candidate=merge, base=TIP, target=MOVED))
    rules.do(LandSync(convoy=NAME, candidate=merge, judged=("ci",)))
    assert owed(rules, target=MOVED, tip=merge) == [BuildConvoy(NAME, MOVED)]


def test_who_asks_for_a_part_does_not_wait_for_more_candidates() -> None:
    rules = begun(2).started(2).accepted(2, MORE)
    build = Build(NAME, (2,), TIP)

    assert owed(rules) == [build]
    rules.do(ONCE)
    assert owed(rules) == [build, BuildConvoy(NAME, START)]
    assert owed(rules, target=MOVED) == [BuildSync(NAME, MOVED)]


def test_a_part_that_is_red_blames_nobody_and_waits_for_more() -> None:
    rules = offered(begun(2, land="parts"))

    assert owed(rules, a=RED) == [DropPart(NAME, TIP, RED.text)]
    rules.do(FailPart(convoy=NAME, candidate=TIP, why=RED.text))
    assert owed(rules, a=RED) == []
    assert rules.task(1).state == "merged"
    assert about_parts(rules.convoy).endswith("1 failed.")
    rules.do(ONCE)
    assert owed(rules) == [BuildConvoy(NAME, START)]


def test_a_refused_push_keeps_only_parts_from_landing() -> None:
    rules = offered(begun(2, land="parts").started(2).accepted(2, MORE))
    refused = SetItemAside(item=part_item(NAME), why="no", rule="validation")

    assert owed(rules, a=GREEN) == [Build(NAME, (2,), TIP), Land(NAME, START)]
    rules.do(refused)
    assert owed(rules, a=GREEN) == [Build(NAME, (2,), TIP)]


# --- the end --------------------------------------------------------------------------


def test_the_rest_lands_after_a_part() -> None:
    rules = landed(begun(2)).started(2).accepted(2, MORE)
    rules.offered(2, MORE, TIP).landed_as(2, MORE)

    assert rules.convoy.settled
    assert [key for key in rules.state.intents if key.startswith("pull:")]
    assert owed(rules, target=TIP, tip=MORE) == [BuildConvoy(NAME, TIP)]


def test_a_convoy_is_complete_when_its_parts_are_all_that_is_wanted() -> None:
    rules = landed(begun(2)).do(DropTask(convoy=NAME, task=2, why="not wanted"))

    assert rules.convoy.state == "complete"
    assert rules.convoy.landed == TIP
    assert not any(key.startswith("pull:") for key in rules.state.intents)


def test_what_landed_stays_when_the_convoy_is_cancelled() -> None:
    rules = landed(begun(2)).do(FailConvoy(convoy=NAME, why="cancelled"))

    assert about_parts(rules.convoy) == "1 of 2 tasks has landed on main."
    rules.do(RetryConvoy(convoy=NAME, by="ann"))
    assert [task.state for task in rules.convoy.tasks] == ["merged", "queued"]
    assert not any(key == f"pull:{NAME}/0" for key in rules.state.intents)


def test_the_whole_never_lands_as_a_part() -> None:
    rules = offered(begun(2, land="parts"))
    rules.do(DropTask(convoy=NAME, task=2, why="not wanted"))

    refused = rules.ask(land(TIP, 1))
    assert isinstance(refused, Refusal)
    assert "lands as a whole" in refused.why


# --- where the target takes no push ---------------------------------------------------

MERGED = Landing(way="merge", method="squash")
QUEUED = Landing(way="queue")


def shown(landing: Landing = MERGED) -> Rules:
    """Offer a part by a pull request of its own."""
    rules = begun(2, land="parts").do(ChooseLanding(convoy=NAME, landing=landing))
    offered(rules).do(OfferPart(convoy=NAME, candidate=TIP))
    return rules.do(NoteDone(key=f"pull:{NAME}/0", number=30))


def asked(rules: Rules, seen: Mergeable, tip: str = TIP) -> list[Action]:
    """Return what is due of the part as the forge shows its pull request."""
    refs = {
        "refs/heads/main": START,
        f"refs/heads/convoy/{NAME}/base": tip,
        f"refs/heads/convoy/{NAME}/part-1": TIP,
    }
    observed = Observed(refs=refs, checks={TIP: GREEN}, mergeable={30: seen})
    found = owed_actions(rules.state, observed, Patience(), rules.now)
    kinds = (AskMerge, BuildConvoy, TakePart, DropPart, Wait)
    return [action for action in found if isinstance(action, kinds)]


def merged(*tasks: int, judged: tuple[str, ...] = ("ci",)) -> NotePart:
    return NotePart(
        convoy=NAME, pull=30, tip=TIP, commit=MOVED, tasks=tasks, judged=judged
    )


def test_a_part_is_shown_by_a_branch_of_its_own() -> None:
    rules = begun(2, land="parts").do(ChooseLanding(convoy=NAME, landing=MERGED))
    offered(rules)

    kinds = (Offer, Land)
    assert owed(rules, a=GREEN, kinds=kinds) == [Offer(NAME, TIP)]
    rules.do(OfferPart(convoy=NAME, candidate=TIP))
    assert head_branch(rules.convoy) == f"convoy/{NAME}/part-1"
    assert owed(rules, a=GREEN, kinds=kinds) == []


def test_the_forge_merges_what_was_offered_though_more_is_finished_since() -> None:
    rules = shown().started(2).accepted(2, MORE)
    rules.offered(2, MORE, TIP).ask(RequestPart(convoy=NAME, by="ann"))
    rules.pushed(MORE)

    assert asked(rules, Mergeable(head=TIP, state="clean"), MORE) == [
        AskMerge(NAME, TIP)
    ]
    done = asked(rules, Mergeable(head=TIP, merged=MOVED))
    assert done == [TakePart(NAME, MOVED, TIP)]
    rules.do(merged(1))
    assert rules.convoy.state == "active"
    assert (rules.convoy.pull, head_branch(rules.convoy)) == (
        None,
        f"convoy/{NAME}/base",
    )
    assert owed(rules, target=MOVED, tip=TIP) == []  # task 2 is judged to its end


def test_people_are_told_what_a_part_waits_for() -> None:
    rules = shown(Landing(way="person"))
    waits = f"a person to merge pull request #{rules.convoy.pull}"

    seen = Mergeable(head=TIP)
    assert asked(rules, seen) == [Wait(NAME, waits)]


def test_a_part_that_the_queue_puts_out_waits_for_more() -> None:
    rules = shown(QUEUED)
    rules.do(AskForge(convoy=NAME, candidate=TIP, judged=("ci",)))
    rules.do(NoteDone(key=f"land:{NAME}/{TIP[:12]}", number=30))

    assert asked(rules, Mergeable(head=TIP)) == [DropPart(NAME, TIP, LEFT_QUEUE)]
    assert rules.task(1).state == "merged"


def test_a_part_that_turns_out_to_be_all_completes_the_convoy() -> None:
    rules = shown().do(DropTask(convoy=NAME, task=2, why="not wanted"))

    rules.do(merged(1, judged=()))
    assert rules.convoy.state == "complete"
    assert rules.convoy.why == UNJUDGED


def test_the_rest_gets_a_pull_request_when_a_part_merges_at_the_end() -> None:
    rules = shown().started(2).accepted(2, MORE)
    rules.offered(2, MORE, TIP).landed_as(2, MORE)
    assert f"pull:{NAME}/0" not in rules.state.intents

    rules.do(merged(1))
    assert rules.convoy.state == "active"
    assert f"pull:{NAME}/0" in rules.state.intents


# --- what people say ------------------------------------------------------------------


def test_a_part_is_asked_for_once() -> None:
    rules = begun(2).do(ONCE)

    assert "ann has asked for that already" in str(rules.ask(ONCE))
    landed(rules)
    assert rules.convoy.parts.asked_by == ""


def test_nothing_is_asked_for_that_the_target_holds() -> None:
    planned = Rules().planned(spec(1), spec(2))
    for rules in (planned, landed(begun(2))):
        refused = rules.ask(ONCE)
        assert isinstance(refused, Refusal)
        assert refused.why == "nothing is finished that main does not hold"


def test_people_change_how_a_convoy_lands() -> None:
    rules = begun(2)
    parts = RequestPart(convoy=NAME, by="ann", how="parts")
    whole = RequestPart(convoy=NAME, by="ann", how="whole")

    rules.do(parts)
    assert rules.ask(parts) is not None
    offered(rules).do(whole)
    assert rules.convoy.candidate is None
    assert owed(rules) == []
    assert rules.ask(whole) is not None
    rules.do(ONCE, whole)  # what was asked for is not wanted any more
    assert owed(rules) == []


@pytest.mark.parametrize(("dropped", "said"), [(0, "3"), (1, "2")])
def test_people_are_told_how_much_has_landed(dropped: int, said: str) -> None:
    rules = landed(begun(2, 3))
    for number in range(2, 2 + dropped):
        rules.do(DropTask(convoy=NAME, task=number, why="not wanted"))

    assert about_parts(rules.convoy) == f"1 of {said} tasks has landed on main."
    fact = next(fact for fact in rules.facts if isinstance(fact, PartLanded))
    assert fact.sentence() == f"Task 1 landed on main as {TIP[:10]} (judged: ci)."


def test_a_convoy_of_which_the_target_holds_all_opens_no_pull_request() -> None:
    rules = begun()
    key = f"pull:{NAME}/0"
    assert key in rules.state.intents

    wanted = Do(rules.state.intents[key])
    assert wanted in owed(rules, kinds=(Do,))
    assert wanted not in owed(rules, kinds=(Do,), target=MOVED)  # taken in first
    assert wanted not in owed(rules, kinds=(Do,), target=TIP)
    rules.do(AttemptSync(convoy=NAME, candidate=TIP, base=TIP, target=TIP))
    rules.do(LandSync(convoy=NAME, candidate=TIP, judged=("ci",)))
    offered(rules, TIP, TIP)
    assert owed(rules, kinds=(LandConvoy,), target=TIP, a=GREEN) == [
        LandConvoy(NAME, TIP)
    ]
    whole = LandMerge(convoy=NAME, task=0, candidate=TIP, judged=("ci",))
    rules.do(whole)
    assert rules.convoy.state == "complete"
    assert key not in rules.state.intents
