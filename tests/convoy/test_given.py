"""A pull request that was given: what takes it out, and what it is judged on."""

from msgspec.structs import replace

from convoy.events.people_events import ApprovePlan
from convoy.events.task_events import ConvoyFailed
from convoy.model.records import GivenPull
from convoy.model.state import Convoy
from convoy.model.work import Landing
from convoy.owed import Action, BuildConvoy, LandConvoy, Look, Patience
from convoy.owed.gestures import gestures
from convoy.owed.landings import merges
from convoy.rules.landing import AttemptMerge, given_onto
from convoy.rules.observed import Observed, PullSeen
from convoy.rules.people import RetryConvoy
from convoy.rules.plans import PlanConvoy
from convoy.rules.target import FailSync
from tests.convoy.room import GREEN, refused
from tests.world.rules import Rules, commands, requested, settings, sha, spec

TIP, HEAD = sha("a"), sha("b")
MAIN = "refs/heads/main"


def given(number: int, **more: object) -> GivenPull:
    fields = {"head": HEAD, "branch": f"do-{number}", "author": "bea", "lands": True}
    return GivenPull(number=number, **{**fields, **more})  # type: ignore[arg-type]


def asked(rules: Rules, pull: GivenPull, **more: object) -> Convoy:
    name = f"do-{pull.number}"
    target = "main" if pull.lands else pull.branch
    given = {"convoy": name, "issue": pull.number, "target": target, "given": pull}
    rules.do(
        requested(settings=settings(**more), **given),
        PlanConvoy(convoy=name, planner="a pull request", tasks=(spec(1),)),
    )
    return rules.state.convoys[name]


def built(rules: Rules, number: int, candidate: str, base: str) -> Convoy:
    name = f"do-{number}"
    made = sha(candidate)
    rules.do(AttemptMerge(convoy=name, task=0, candidate=made, base=base, work=HEAD))
    return rules.state.convoys[name]


def seen(**more: object) -> Observed:
    fields = {"number": 7, "open": True, "merged": False, "head": HEAD, "base": "main"}
    pull = PullSeen(**{**fields, **more})  # type: ignore[arg-type]
    return Observed(refs={MAIN: TIP}, pulls={7: pull})


def owed(rules: Rules, number: int, observed: Observed) -> list[Action]:
    live = [*rules.state.live()]
    convoy = rules.state.convoys[f"do-{number}"]
    return [*merges(convoy, Look(observed, Patience(), rules.now), live)]


def test_what_a_person_does_to_it_takes_it_out_and_its_own_candidate_does_not() -> None:
    rules = Rules()
    asked(rules, given(7))
    lands = built(rules, 7, "c", TIP)
    agents = asked(Rules(), given(7, lands=False))
    for convoy, observed, why in (
        (lands, seen(), ""),
        (lands, seen(head=sha("c")), ""),
        (lands, seen(head=sha("d")), f"{'d' * 10} has since been pushed to the pull"),
        (lands, seen(base="next"), "the base of the pull request is now next"),
        (lands, seen(open=False), "the pull request was closed"),
        (lands, seen(open=False, merged=True, merge_commit=sha("e")), ""),
        (lands, Observed(), ""),
        (agents, seen(head=sha("d")), ""),
        (agents, seen(open=False), "the pull request was closed"),
    ):
        found = [end.why for end in commands(gestures(convoy, observed), ConvoyFailed)]
        assert len(found) == bool(why), observed
        assert "".join(found).startswith(why), observed


def test_its_candidate_stands_on_the_one_before_and_waits_for_it() -> None:
    rules = Rules()
    for number in (7, 8, 9):
        asked(rules, given(number), max_parallel=2)
    observed = seen()

    assert owed(rules, 7, observed) == [BuildConvoy("do-7", TIP)]
    assert owed(rules, 8, observed) == []
    built(rules, 7, "c", TIP)
    assert owed(rules, 8, observed) == [BuildConvoy("do-8", sha("c"))]
    built(rules, 8, "d", sha("c"))
    assert owed(rules, 9, observed) == [], "two are judged at once"
    green = replace(observed, checks={sha("c"): GREEN, sha("d"): GREEN})
    assert owed(rules, 8, green) == []
    assert owed(rules, 7, green) == [LandConvoy("do-7", TIP)]


def test_what_was_red_or_is_merged_by_the_forge_stands_on_the_target() -> None:
    def onto(convoy: Convoy, tip: str = TIP) -> str:
        return given_onto(convoy, tip, [*rules.state.live()])

    rules = Rules()
    for number in (7, 8):
        asked(rules, given(number))
    built(rules, 7, "c", TIP)
    second = rules.state.convoys["do-8"]
    assert onto(second) == sha("c")
    assert onto(replace(second, landing=Landing(way="merge"))) == TIP

    red = FailSync(convoy="do-7", candidate=sha("c"), target=TIP, why="red")
    rules.do(red)
    assert onto(second) == TIP
    assert onto(rules.state.convoys["do-7"], sha("e")) == sha("e")

    built(rules, 7, "f", TIP)
    rules.do(replace(red, candidate=sha("f")))
    ended = rules.state.convoys["do-7"]
    assert (ended.state, ended.why) == ("failed", "red")
    again = refused(rules, RetryConvoy(convoy="do-7", by="ann"))
    assert again == "to use the newest commit, say /brat land again"

    rules = Rules()  # a conflict ends it at once, without a task
    asked(rules, given(7))
    rules.do(replace(red, candidate=None, why="no", paths=("a",)))
    ended = rules.state.convoys["do-7"]
    assert (ended.state, len(ended.tasks)) == ("failed", 1)


def test_only_the_author_agrees_to_an_agent_on_their_branch() -> None:
    rules, agree = Rules(), ApprovePlan(convoy="do-7", by="ann")
    asked(rules, given(7, lands=False), approve="plan")
    assert "the branch belongs to bea" in refused(rules, agree)
    rules.do(replace(agree, by="Bea"))
    assert rules.state.convoys["do-7"].state == "active"
