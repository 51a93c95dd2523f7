from msgspec.structs import replace

from convoy.events.merge_events import MergeFailed
from convoy.events.session_events import TaskStarted
from convoy.kinds import half_done
from convoy.model import ids
from convoy.model.records import Cause
from convoy.owed import Begin
from convoy.rules.ending import LoseSession, RefuseWork
from convoy.rules.landing import FailMerge, ProveWork
from convoy.rules.starting import StartTask
from tests.convoy.room import due, in_review, refused
from tests.world.cases import looped
from tests.world.rules import NAME, Rules, made, sha, spec

TIP = ids.base_branch(NAME)
KEPT = {
    f"refs/heads/{TIP}": sha("0"),
    ids.attempt_ref(NAME, 1, 1): sha("1"),
    ids.attempt_refs(NAME, 1, 2, sha("2"))[1]: sha("2"),
}


def lost(attempt: int, left: str = "") -> LoseSession:
    return made(LoseSession, attempt=attempt, cause="lost", why="it died", left=left)


def ended(attempt: int, cause: Cause, left: str = "") -> RefuseWork:
    return made(RefuseWork, attempt=attempt, cause=cause, now=9, left=left)


def base(rules: Rules, refs: dict[str, str] = KEPT) -> str:
    begun = due(rules, refs, rules.now * 10)
    return next(each.base for each in begun if isinstance(each, Begin))


def test_of_several_in_a_row_the_newest_counts_and_all_is_measured_from_the_first() -> (
    None
):
    rules = Rules().planned(spec(1)).started(1).do(lost(1, sha("1")))
    rules.started(1, sha("1")).do(lost(2, sha("2")))

    assert base(rules) == sha("2")
    told = rules.started(1, sha("2")).noted(TaskStarted)[-1]
    assert (told.base, told.root, told.salvaged) == (sha("2"), sha("0"), 2)

    rules = Rules().planned(spec(1)).started(1).do(lost(1, sha("1")))
    assert base(rules, {f"refs/heads/{TIP}": sha("0")}) == sha("0"), "it is not kept"
    assert rules.started(1).noted(TaskStarted)[-1].salvaged == 0


@looped(
    *((end, sha("1")) for end in (lost(2), ended(2, "outage"), ended(2, "setup"))),
    *((end, sha("0")) for end in (ended(2, "failed"), ended(2, "refused"))),
)
def test_what_an_attempt_could_not_try_is_there_for_the_next_else_that_starts_afresh(
    end: LoseSession | RefuseWork, found: str
) -> None:
    rules = Rules().planned(spec(1)).started(1).do(lost(1, sha("1")))

    rules.started(1, sha("1")).do(end)

    assert base(rules) == found
    told = rules.started(1, found).noted(TaskStarted)[-1]
    assert told.salvaged == int(found == sha("1"))


def test_what_stands_on_other_tests_is_not_gone_on_from() -> None:
    def prove(tests: str) -> None:
        rules.started(1).accepted_quietly(1, tests, "t").offered(1, tests, sha("0"))
        rules.do(made(ProveWork, commit=tests))

    rules = Rules().planned(spec(1, kind="tests"), spec(2, on=(1,)))
    prove(sha("a"))
    rules.started(2, sha("a")).do(replace(lost(1, sha("1")), task=2))
    assert half_done(rules.convoy, rules.task(2)) is not None

    rules.do(made(FailMerge, candidate=None, cause="conflict", why="a.py"))
    prove(sha("b"))

    assert half_done(rules.convoy, rules.task(2)) is None
    assert base(rules) == sha("b")
    start = made(StartTask, task=2, base=sha("1"), now=9)
    assert refused(rules, start) == f"task 2 must start from {sha('b')}"


@looped(
    ("agent", "queued", "a.py"),
    ("person", "blocked", "a.py, and the configuration leaves conflicts to people"),
)
def test_who_makes_work_fit_is_configured(conflicts: str, state: str, why: str) -> None:
    def conflicting(*paths: str) -> Rules:
        given = {"candidate": None, "cause": "conflict", "why": "a.py", "paths": paths}
        return in_review(1, conflicts=conflicts).do(made(FailMerge, **given))

    task = conflicting("a.py").task(1)
    assert (task.state, task.why) == (state, why)
    assert task.unmerged is not None

    rules = conflicting()  # as yesterday's log had it
    (failed,) = rules.noted(MergeFailed)
    assert (failed.paths, rules.task(1).unmerged) == ((), None)
