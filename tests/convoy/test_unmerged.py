"""Work that conflicts with what landed is what its next attempt makes fit."""

from convoy.events.merge_events import MergeFailed
from convoy.events.session_events import TaskStarted
from convoy.kinds import unmerged
from convoy.model.work import Resolution
from convoy.rules.ending import AcceptWork, LoseSession
from convoy.rules.landing import FailMerge
from convoy.rules.starting import StartTask
from tests.world.cases import looped
from tests.world.rules import NAME, Rules, made, sha, spec

TIP, MERGE = sha("9"), sha("e")
CONFLICT = FailMerge(
    convoy=NAME, task=1, candidate=None, cause="conflict", why="a.py", paths=("a.py",)
)


def conflicting(**settings: object) -> Rules:
    rules = Rules().planned(spec(1), **settings).started(1).accepted(1, sha("a"))
    return rules.do(CONFLICT)


def resolving(rules: Rules, base: str = MERGE) -> TaskStarted:
    """Start an attempt that makes the work fit; return what its runner is told."""
    resolution = Resolution(attempt=1, merge=MERGE, tip=TIP, told="Both sides.")
    start = made(
        StartTask, base=base, nonce="6" * 16, now=rules.now, resolves=resolution
    )
    rules.do(start)
    return [fact for fact in rules.facts if isinstance(fact, TaskStarted)][-1]


def test_the_next_attempt_starts_from_both_sides_and_is_measured_from_the_tip() -> None:
    rules = conflicting()
    task = rules.task(1)
    left = unmerged(rules.convoy, task)
    assert left is not None
    assert (left.attempt, left.commit, left.base, left.paths) == (
        *(1, sha("a"), sha("0")),
        ("a.py",),
    )

    told = resolving(rules)

    assert (told.base, told.root, told.resolves and told.resolves.told) == (
        *(MERGE, TIP),
        "Both sides.",
    )
    attempt = rules.task(1).attempt
    assert attempt is not None
    assert (attempt.resolves, attempt.ground) == (MERGE, MERGE)


def test_an_attempt_that_goes_on_from_half_a_resolution_still_makes_it_fit() -> None:
    rules = conflicting()
    resolving(rules)
    half = sha("b")
    rules.do(made(LoseSession, attempt=2, cause="lost", why="died", left=half))

    told = resolving(rules, half)

    assert (told.base, told.root, told.salvaged) == (half, TIP, 2)
    attempt = rules.task(1).attempt
    assert attempt is not None
    assert (attempt.resolves, attempt.ground) == (MERGE, MERGE)


def test_what_fits_is_work_like_any_other() -> None:
    rules = conflicting()
    resolving(rules)

    rules.do(made(AcceptWork, attempt=2, commit=sha("c"), base=TIP))

    task = rules.task(1)
    assert task.work is not None
    assert (task.state, task.work.base, task.unmerged) == ("needs-review", TIP, None)


@looped(
    ("agent", "queued", "a.py"),
    ("person", "blocked", "a.py, and the configuration leaves conflicts to people"),
)
def test_who_makes_work_fit_is_configured(conflicts: str, state: str, why: str) -> None:
    task = conflicting(conflicts=conflicts).task(1)

    assert (task.state, task.why) == (state, why)
    assert task.unmerged is not None


def test_a_conflict_of_yesterdays_log_leaves_nothing_to_make_fit() -> None:
    rules = Rules().planned(spec(1)).started(1).accepted(1, sha("a"))

    rules.do(FailMerge(convoy=NAME, task=1, candidate=None, cause="conflict", why="a"))

    (failed,) = (fact for fact in rules.facts if isinstance(fact, MergeFailed))
    assert (failed.paths, rules.task(1).unmerged) == ((), None)
