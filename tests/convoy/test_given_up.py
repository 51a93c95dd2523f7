"""A task that is given up while its session runs: the session still has to end."""

from typing import Any

from msgspec.structs import replace

from convoy.events import Command
from convoy.rules.ending import AcceptNothing, AcceptWork, LoseSession, RefuseWork
from convoy.rules.people import BlockTask, DropTask, FailConvoy, RetryTask
from convoy.rules.starting import StartTask
from tests.convoy.room import why
from tests.world.cases import looped
from tests.world.rules import NAME, Rules, made, sha, spec

GIVEN_UP = (
    FailConvoy(convoy=NAME, why="cancelled by ann"),
    DropTask(convoy=NAME, task=1, why="not wanted"),
    BlockTask(convoy=NAME, task=1, why="no disk"),
)
FIRST: dict[str, Any] = {"convoy": NAME, "task": 1, "attempt": 1}
ENDS = (
    AcceptWork(**FIRST, commit=sha("a"), base=sha("0"), files=()),
    AcceptNothing(**FIRST),
    RefuseWork(**FIRST, cause="refused", why="a symlink"),
    LoseSession(**FIRST, cause="lost", why="it died"),
)


@looped(*ENDS)
@looped(*GIVEN_UP)
def test_what_is_given_up_while_it_runs_ends_without_a_trace(
    give_up: Command, end: Command
) -> None:
    rules = Rules().planned(spec(1, needs=("port:80",)), spec(2)).started(1)
    rules.do(give_up)
    given_up = rules.task(1)
    assert list(rules.state.running()) == [(rules.convoy, given_up)]
    assert rules.state.leases, "its session still holds it"

    rules.do(end)

    assert rules.task(1) == replace(
        given_up, attempt=None, worked_ms=rules.task(1).worked_ms
    )
    assert not rules.state.leases
    assert "not running" in why(rules.ask(end))


def test_a_dropped_task_is_not_offered_any_more() -> None:
    pull = f"pull:{NAME}/1"
    rules = Rules().planned(spec(1), spec(2)).started(1).do(ENDS[0])
    assert pull in rules.state.intents

    assert pull not in rules.do(GIVEN_UP[1]).state.intents


def test_the_next_attempt_waits_for_the_end_of_the_one_before() -> None:
    rules = Rules().planned(spec(1)).started(1)
    rules.do(GIVEN_UP[2], RetryTask(convoy=NAME, task=1, by="ann"))

    start = made(StartTask, session="ab" * 16, now=0)
    assert "waits for its previous session to end" in why(rules.ask(start))
    rules.do(ENDS[3])

    assert rules.task(1).state == "queued"
    assert rules.ask(start) is None
