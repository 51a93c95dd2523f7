"""The target is taken in when it helps; what goes wrong with it is a task, no end."""

from msgspec.structs import replace

from convoy import owed
from convoy.events.merge_events import LandingWaits
from convoy.model.work import LOST_MOST
from convoy.owed.landings import BRANCH_GONE, merges
from convoy.rules.landing import AttemptMerge
from convoy.rules.observed import Observed
from convoy.rules.people import RebaseWork
from convoy.rules.target import AttemptSync, FailSync, LandSync as Land
from convoy.rules.verdict import Checks
from tests.convoy.room import BASE, GREEN, due, refused
from tests.world.rules import NAME, Rules, commands, made, sha, spec

TIP, MOVED = sha("a"), sha("1")
RED = Checks(verdict="red")
PATIENCE = owed.Patience()


def begun(*more: int, **given: bool) -> Rules:
    """Return rules with task 1 merged and more planned."""
    rules = Rules().planned(spec(1), *map(spec, more), **given)
    return rules.landed(1, TIP)


def owes(
    rules: Rules, later_s: int = 0, *, tip: str = TIP, **checks: Checks
) -> list[owed.Action]:
    refs = {"refs/heads/main": MOVED, BASE: tip}
    known = {sha(letter): found for letter, found in checks.items()}
    observed = Observed(refs=refs, checks=known)
    now = rules.now + later_s * 1000
    return [*merges(rules.convoy, owed.Look(observed, PATIENCE, now))]


def attempt(candidate: str, target: str = MOVED) -> AttemptSync:
    return AttemptSync(convoy=NAME, candidate=candidate, base=TIP, target=target)


def taken_in(rules: Rules, candidate: str, target: str = MOVED) -> Rules:
    done = Land(convoy=NAME, candidate=candidate, judged=("ci",))
    return rules.do(attempt(candidate, target), done)


def test_a_target_that_moved_is_taken_in_first_and_once_in_five_minutes() -> None:
    rules = begun(2).started(2).accepted(2, sha("b"))
    assert owes(rules) == [owed.BuildSync(NAME, MOVED)]
    assert owes(rules.offered(2, sha("c"), TIP)) == [], "CI judges that"

    rules = taken_in(begun(2), sha("d"), sha("2"))
    assert rules.convoy.changed == (sha("2"), sha("d"))
    assert owes(rules, 299, tip=sha("d")) == []
    assert owes(rules, 301, tip=sha("d")) == [owed.BuildSync(NAME, MOVED)]


def test_a_target_that_is_gone_is_said_once_until_it_is_back() -> None:
    rules = begun()
    waits = BRANCH_GONE.format("main")
    gone = {BASE: TIP}
    for refs, told in ((gone, waits), (gone | {"refs/heads/main": MOVED}, "")):
        look = owed.Look(Observed(refs=refs), PATIENCE, rules.now)
        rules.do(*commands(merges(rules.convoy, look), LandingWaits))
        assert rules.convoy.landing_waits == told
        assert not commands(merges(rules.convoy, look), LandingWaits)


def test_without_sync_it_comes_in_after_the_last_task() -> None:
    rules = begun(2, sync=False)

    assert owes(rules) == []
    rules.dropped(2, "not wanted")
    assert owes(rules) == [owed.BuildSync(NAME, MOVED)]
    assert owes(taken_in(rules, sha("d")), tip=sha("d")) == [
        owed.BuildConvoy(NAME, MOVED)
    ]

    rules = begun().do(attempt(sha("d"), sha("2")))
    assert owes(rules, d=GREEN) == [owed.BuildSync(NAME, MOVED)], "the target moved on"


def test_a_candidate_is_built_again_only_when_its_base_is_another() -> None:
    def built(rules: Rules, candidate: str, base: str, work: str) -> Rules:
        given = {"candidate": sha(candidate), "base": base, "work": work}
        return rules.do(made(AttemptMerge, task=0, **given))

    rules = built(taken_in(begun(), sha("d")), "e", MOVED, sha("d"))
    assert owes(rules, tip=sha("e"), e=GREEN) == [], "its branch was moved to it"
    rules.pushed(sha("b"))
    assert owes(rules, tip=sha("b"), e=GREEN) == [owed.BuildConvoy(NAME, MOVED)]

    rules = taken_in(built(begun(), "e", sha("9"), TIP), sha("d"))
    built(rules, "f", sha("9"), sha("d"))  # on a target that went back
    assert owes(rules, tip=sha("d"), f=GREEN) == [owed.BuildConvoy(NAME, MOVED)]


def test_ci_that_was_stopped_blames_nobody_and_then_asks_a_person() -> None:
    rules = begun(2)
    stopped = Checks(verdict="lost", failed=("ci",), text="cancelled")
    for letter in "def"[:LOST_MOST]:
        rules.now += 10**6
        rules.do(attempt(sha(letter)))
        again = owed.LookAgain(NAME, 0, sha(letter), "cancelled", ("ci",), is_red=False)
        assert owes(rules, d=stopped, e=stopped, f=stopped) == [again]
        rules.do(made(FailSync, candidate=sha(letter), target=MOVED, lost=True))
    assert len(rules.convoy.tasks) == 2
    assert rules.convoy.sync.reds == 0
    assert rules.convoy.sync.stalled


def test_red_once_is_built_once_more_and_red_twice_is_a_task() -> None:
    rules = begun(2).do(attempt(sha("d")))
    assert owes(rules, d=RED) == [owed.Reject(NAME, 0, sha("d"), "")]

    rules.do(made(FailSync, candidate=sha("d"), target=MOVED))
    assert len(rules.convoy.tasks) == 2
    assert owes(rules) == [owed.BuildSync(NAME, MOVED)]

    rules.do(attempt(sha("e")), made(FailSync, candidate=sha("e"), target=MOVED))
    assert rules.task(3).spec.kind == "sync"
    assert "noop" in rules.task(3).spec.instructions
    assert owes(rules) == []

    rules = Rules().planned(spec(1))  # a target that is red by itself
    red = AttemptSync(convoy=NAME, candidate=MOVED, base=sha("0"), target=MOVED)
    rules.do(red, made(FailSync, candidate=MOVED, target=MOVED))
    assert (owes(rules, tip=sha("0")), len(rules.convoy.tasks)) == ([], 1)


def test_a_conflict_is_a_task_that_names_the_files_and_lands_as_a_merge() -> None:
    rules = begun(2).do(
        made(FailSync, candidate=None, target=MOVED, paths=("a.py", "b.py"))
    )
    assert rules.task(3).spec.kind == "sync"
    assert "- a.py\n- b.py" in rules.task(3).spec.instructions
    assert rules.ask(made(FailSync, candidate=None, target=MOVED))
    assert rules.ask(attempt(sha("d")))

    rules.started(3, sha("e")).accepted(3, sha("f"))
    plain = made(AttemptMerge, task=3, candidate=sha("c"), base=TIP, work=sha("f"))
    assert rules.ask(plain)
    rebase = made(RebaseWork, task=3, old=sha("f"), commit=sha("c"), base=TIP)
    assert refused(rules, rebase) == "task 3 is a merge of main and cannot be rebased"
    rules.do(replace(plain, target=MOVED)).landed_as(3, sha("c"))
    assert (rules.convoy.sync.target, rules.convoy.sync.commit) == (MOVED, sha("c"))

    rules = begun(2).do(made(FailSync, candidate=None, target=MOVED, paths=("a.py",)))
    rules.blocked(3, "3 attempts")
    assert (owes(rules), rules.convoy.state) == ([], "active")


def test_a_convoy_that_was_given_up_goes_on_with_its_work() -> None:
    rules = begun(2, 3, 4).started(2).accepted(2, sha("b")).started(3)
    rules.dropped(4).failed("cancelled by ann", "ann").taken_up("bea")
    assert rules.states == ["merged", "needs-review", "queued", "dropped"]
    assert (rules.convoy.state, rules.convoy.vouched_by) == ("active", "bea")

    rules = Rules().planned(spec(1), spec(2), spec(3, after=(2,))).landed(1, TIP)
    rules.dropped(2).failed("cancelled").taken_up()
    assert rules.states == ["merged", "dropped", "dropped"], "it needs what stays so"

    rules = Rules().planned(spec(1)).dropped(1)
    why = "every task was dropped"
    assert (rules.convoy.state, rules.convoy.why) == ("failed", why)
    rules.taken_up()
    assert (rules.convoy.state, rules.states) == ("active", ["queued"]), "all are"

    rules = Rules().planned(spec(1), approve="plan").failed("no").taken_up()
    assert rules.convoy.state == "planning", "nobody has approved it"


def test_a_convoy_of_which_the_target_holds_all_opens_no_pull_request() -> None:
    rules = begun()
    key = f"pull:{NAME}/0"
    wanted = owed.Do(rules.state.intents[key])

    assert wanted in green(rules, sha("0"))
    assert wanted not in green(rules, MOVED)  # taken in first
    assert wanted not in green(rules, TIP)
    taken_in(rules, TIP, TIP)
    rules.do(AttemptMerge(convoy=NAME, task=0, candidate=TIP, base=TIP, work=TIP))
    assert owed.LandConvoy(NAME, TIP) in green(rules, TIP)
    rules.landed_as(0, TIP)
    assert rules.convoy.state == "complete"
    assert key not in rules.state.intents


def green(rules: Rules, target: str) -> tuple[owed.Action, ...]:
    """Return what is due where the convoy's branch is green and stands at its work."""
    return due(rules, {"refs/heads/main": target, BASE: TIP}, checks={TIP: GREEN})
