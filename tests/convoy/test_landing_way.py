"""The way a convoy lands follows from its target's rules alone."""

from msgspec.structs import replace

from convoy.events.merge_events import LandingChosen
from convoy.model import ids
from convoy.model.ids import SetAside
from convoy.model.records import Strategy
from convoy.model.state import Convoy, Moment
from convoy.model.work import Candidate, Landing, TargetRules, Way
from convoy.owed import Reject
from convoy.owed.landings import LEFT_QUEUE, last_step
from convoy.rules.observed import Mergeable, Observed
from convoy.rules.target import (
    CHANGES_REQUESTED,
    asked_for,
    landing_by,
    learnt_of,
)
from convoy.rules.verdict import Checks
from tests.world.cases import looped
from tests.world.rules import NAME, Rules, spec

HEAD = "a" * 40


def landing_by_way(landing: Landing) -> Convoy:
    return replace(Rules().planned(spec(1)).convoy, landing=landing)


@looped(
    (TargetRules(), "push", "merge"),
    (TargetRules(checks=("test",)), "push", "merge"),
    (TargetRules(pull_request=True), "merge", "merge"),
    (TargetRules(pull_request=True, methods=("rebase",)), "merge", "rebase"),
    (TargetRules(pull_request=True, linear=True), "merge", "squash"),
    (TargetRules(linear=True, methods=("merge",)), "person", "merge"),
    (TargetRules(signed=True), "merge", "squash"),
    (TargetRules(queue=True, pull_request=True), "queue", "merge"),
    (TargetRules(frozen=True), "person", "merge"),
    (TargetRules(pull_request=True, methods=()), "person", "merge"),
)
def test_the_rules_choose_the_way(
    rules: TargetRules, way: Way, method: Strategy
) -> None:
    landing = landing_by(rules, bypass=False)

    assert (landing.way, landing.method) == (way, method)


def test_rules_are_passed_by_only_where_forge_and_configuration_let_it() -> None:
    may, must = (TargetRules(queue=True, passes=passes) for passes in (True, False))

    assert landing_by(may, bypass=True).way == "push"
    assert landing_by(may, bypass=False).way == "queue"
    assert landing_by(must, bypass=True).way == "queue"


@looped("protected-branch", "checks-awaited")
def test_a_refusal_tells_a_rule_that_no_list_showed(rule: str) -> None:
    refused = SetAside(why="no", rule=rule, at=1)

    learnt = learnt_of(Landing(), refused)

    assert landing_by(TargetRules(), bypass=False, learnt=learnt).way == "merge"
    assert learnt_of(Landing(way="merge", learnt=learnt), refused) == learnt
    assert learnt_of(Landing(), SetAside(why="no", rule="hook", at=1)) == ()


@looped(("merge", ""), ("queue", HEAD))
def test_what_a_queue_was_asked_for_is_asked_again_on_another_way(
    way: Way, asked: str
) -> None:
    queued = Landing(way="queue", method="merge")
    convoy = replace(Rules().planned(spec(1)).convoy, landing=queued, asked=HEAD)

    chosen = LandingChosen(convoy=NAME, landing=Landing(way=way, reviews=1))

    assert chosen.convoy_after(convoy, Moment()).asked == asked


@looped(
    ("clean", "", ""),
    ("clean", "APPROVED", ""),
    ("unknown", "", ""),
    ("blocked", "REVIEW_REQUIRED", "2 approving reviews"),
    ("blocked", "APPROVED", "the check test"),
    ("blocked", "", "2 approving reviews, the check test"),
    ("behind", "APPROVED", "the latest main to be merged into its branch"),
    ("draft", "APPROVED", "its pull request to be ready for review"),
)
def test_what_the_forge_asks_for_is_waited_for(
    state: str, review: str, waits: str
) -> None:
    convoy = landing_by_way(Landing(way="merge", reviews=2, checks=("test",)))
    seen = Mergeable(head=HEAD, state=state, review=review)

    assert asked_for(convoy, seen) == waits


@looped(
    (Checks(verdict="pending", more=True), ""),
    (Checks(verdict="pending", more=True, text="run 7 waits"), "the checks ci, dco"),
    (Checks(verdict="pending", names=("ci",)), "the check dco"),
    (Checks(verdict="red", names=("ci", "dco"), failed=("dco",)), "the check dco"),
    (Checks(verdict="green", names=("ci", "dco")), "what the rules of main require"),
)
def test_of_the_checks_that_rules_name_what_has_not_passed_is_waited_for(
    said: Checks, waits: str
) -> None:
    convoy = landing_by_way(Landing(way="merge", checks=("ci", "dco")))
    seen = Mergeable(head=HEAD, state="blocked", checks=said)

    assert asked_for(convoy, seen) == waits
    assert seen.is_tested == (not waits)


@looped(
    ("failed_checks", "E: no", "E: no\n" + LEFT_QUEUE + " (failed_checks)"),
    ("", "", LEFT_QUEUE),
    ("merged", "", ""),  # which the pull request itself may show later
)
def test_what_the_queue_found_red_is_told_and_what_it_merged_is_not_blamed(
    reason: str, said: str, why: str
) -> None:
    candidate = Candidate(commit=HEAD, base="b" * 40, work=HEAD, at=1)
    convoy = replace(
        landing_by_way(Landing(way="queue")), pull=7, asked=HEAD, candidate=candidate
    )
    checks = Checks(verdict="red", text=said)
    seen = Mergeable(head=HEAD, state="clean", reason=reason, checks=checks)
    refs = {ids.HEADS + ids.base_branch(NAME): HEAD}

    found = last_step(convoy, candidate, Observed(refs=refs, mergeable={7: seen}))

    assert [*found] == ([Reject(NAME, 0, HEAD, why)] if why else [])


def test_where_only_people_may_merge_a_person_is_waited_for() -> None:
    convoy = replace(landing_by_way(Landing(way="person", reviews=1)), pull=7)
    seen = Mergeable(head=HEAD, state="blocked", review="REVIEW_REQUIRED")

    assert asked_for(convoy, seen) == "1 approving review"
    approved = replace(seen, review="APPROVED")
    assert asked_for(convoy, approved) == "a person to merge pull request #7"


def test_no_queue_is_asked_before_the_code_owners_have_approved() -> None:
    rules = TargetRules(queue=True, pull_request=True, owners=True, checks=("test",))
    landing = landing_by(rules, bypass=False)
    seen = Mergeable(head=HEAD, state="blocked", review="REVIEW_REQUIRED")

    assert landing.way == "queue"
    convoy = landing_by_way(landing)
    assert asked_for(convoy, seen) == "a review from a code owner"
    assert asked_for(convoy, replace(seen, review="APPROVED")) == ""


def test_whose_approval_there_is_or_lacks_is_not_asked_of_anybody_else() -> None:
    rules = TargetRules(pull_request=True, reviews=1, owners=True, resolved=True)
    convoy = landing_by_way(landing_by(rules, bypass=False))
    seen = Mergeable(head=HEAD, state="blocked", review="CHANGES_REQUESTED")

    assert asked_for(convoy, seen) == CHANGES_REQUESTED
    approved = replace(seen, review="APPROVED")
    assert asked_for(convoy, approved) == "the resolution of all conversations"
