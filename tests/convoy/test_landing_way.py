"""The way a convoy lands follows from its target's rules alone."""

from msgspec.structs import replace

from convoy.events.merge_events import LandingChosen
from convoy.model.ids import SetAside
from convoy.model.records import Strategy
from convoy.model.state import Convoy, Moment
from convoy.model.work import Landing, TargetRules, Way
from convoy.rules.observed import Mergeable
from convoy.rules.target import asked_for, landing_by, learnt_of
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


@looped(
    (MERGE, "clean", "", ""),
    (MERGE, "clean", "APPROVED", ""),
    (MERGE, "unknown", "", ""),
    (MERGE, "blocked", "REVIEW_REQUIRED", "2 approving reviews"),
    (MERGE, "blocked", "APPROVED", "the check test"),
    (MERGE, "blocked", "", "2 approving reviews, the check test"),
    (MERGE, "behind", "APPROVED", "the latest main to be merged into its branch"),
    (MERGE, "draft", "APPROVED", "its pull request to be ready for review"),
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
