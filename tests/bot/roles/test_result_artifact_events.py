"""A session speaks for itself and of itself, or none of it is taken."""

import pytest

from convoy.events.session_events import SessionReady
from convoy.events.task_events import TaskBlocked
from convoy.model import ids
from grite.event import CommentAdded, Event as GriteEvent, LabelAdded
from tests.bot.result_artifacts import (
    ACTOR,
    CONVOY,
    ISSUE,
    TASK,
    Who,
    artifact,
    claim,
    events,
    why,
)
from tests.world.cases import looped

BLOCKED = TaskBlocked(convoy=CONVOY, task=TASK, why="forged")
DEEP = f"x\n\n[brat]{'[' * 10_000}[/brat]"


@looped(
    ("told", "said"),
    [
        (claim(actor=bytes(16)), "an event by actor 0000"),
        (claim(BLOCKED), "an event that a session may not make"),
        (GriteEvent(ISSUE, ACTOR, 5, CommentAdded("hello")), "may not make"),
        (GriteEvent(ISSUE, ACTOR, 5, CommentAdded(DEEP)), "may not make"),
        (GriteEvent(ISSUE, ACTOR, 5, LabelAdded("x")), "an event that is no comment"),
        (claim(issue=ids.task_issue(CONVOY, 3)), "on another task's issue"),
        (claim(issue=ids.repository_issue()), "on another task's issue"),
    ],
)
def test_an_event_that_is_not_the_sessions_own_refuses_the_lot(
    told: GriteEvent, said: str
) -> None:
    assert said in why(artifact(("events.bin", events(claim(), told))))


@pytest.mark.parametrize(
    "who",
    [
        Who(convoy="other-8", task=TASK, attempt=1),
        Who(convoy=CONVOY, task=3, attempt=1),
        Who(convoy=CONVOY, task=TASK, attempt=2),
    ],
)
def test_a_session_speaks_only_of_itself(who: Who) -> None:
    fact = SessionReady(**who)
    told = claim(fact, issue=ids.task_issue(fact.convoy, fact.task))

    said = why(artifact(("events.bin", events(told))))

    assert said == "events.bin: an event of another session"


def test_a_changed_event_is_refused() -> None:
    data = events(claim()).replace(b"is up", b"is on")

    assert "stored as" in why(artifact(("events.bin", data)))


@pytest.mark.parametrize("data", [b"", b"GRITECNK", b"x" * 99, events()[:-1] + b"\x9f"])
def test_what_is_no_chunk_of_events_is_refused(data: bytes) -> None:
    assert why(artifact(("events.bin", data))).startswith("events.bin: ")


def test_too_many_events_are_refused() -> None:
    many = events(*[claim()] * 1_001)

    assert "holds 1001 events" in why(artifact(("events.bin", many)))


def test_events_that_are_too_large_are_refused_unread() -> None:
    large = events(claim()) + bytes(1_000_000)

    assert "larger than 1000000 bytes" in why(artifact(("events.bin", large)))
