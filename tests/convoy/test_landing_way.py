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


def by(landing: Landing, pull: int | None = None) -> Convoy:
    return replace(Rules().planned(spec(1)).convoy, landing=landing, pull=pull)


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

    queued = replace(by(Landing(way="queue", method="merge")), asked=HEAD)
    chosen = LandingChosen(convoy=NAME, landing=replace(landing, reviews=1))
    asked = chosen.convoy_after(queued, Moment()).asked
    assert asked == (HEAD if way == "queue" else ""), "on another way it is asked again"


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


MERGE = by(Landing(way="merge", reviews=2, checks=("test",)))
PERSON = by(Landing(way="person", reviews=1), pull=7)
OWNED = TargetRules(queue=True, pull_request=True, owners=True, checks=("test",))
QUEUE = by(landing_by(OWNED, bypass=False))
TALKED = TargetRules(pull_request=True, reviews=1, owners=True, resolved=True)
REVIEWED = by(landing_by(TALKED, bypass=False))


@looped(
    (MERGE, "clean", "", ""),
    (MERGE, "clean", "APPROVED", ""),
    (MERGE, "unknown", "", ""),
    (MERGE, "blocked", "REVIEW_REQUIRED", "2 approving reviews"),
    (MERGE, "blocked", "APPROVED", "the check test"),
    (MERGE, "blocked", "", "2 approving reviews, the check test"),
    (MERGE, "behind", "APPROVED", "the latest main to be merged into its branch"),
    (MERGE, "draft", "APPROVED", "its pull request to be ready for review"),
    # whose approval there is or lacks is not asked of anybody else
    (REVIEWED, "blocked", "CHANGES_REQUESTED", CHANGES_REQUESTED),
    (REVIEWED, "blocked", "APPROVED", "the resolution of all conversations"),
    # only people may merge
    (PERSON, "blocked", "REVIEW_REQUIRED", "1 approving review"),
    (PERSON, "blocked", "APPROVED", "a person to merge pull request #7"),
    # no queue is asked before the code owners have approved
    (QUEUE, "blocked", "REVIEW_REQUIRED", "a review from a code owner"),
    (QUEUE, "blocked", "APPROVED", ""),
)
def test_what_the_forge_asks_for_is_waited_for(
    convoy: Convoy, state: str, review: str, waits: str
) -> None:
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
    convoy = by(Landing(way="merge", checks=("ci", "dco")))
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
    waiting = by(Landing(way="queue"), pull=7)
    convoy = replace(waiting, asked=HEAD, candidate=candidate)
    checks = Checks(verdict="red", text=said)
    seen = Mergeable(head=HEAD, state="clean", reason=reason, checks=checks)
    refs = {ids.HEADS + ids.base_branch(NAME): HEAD}

    found = last_step(convoy, candidate, Observed(refs=refs, mergeable={7: seen}))

    assert [*found] == ([Reject(NAME, 0, HEAD, why)] if why else [])
