"""What is written as an event is read as that event, and nothing else is."""

import pytest
from hypothesis import given, settings, strategies as st
from inline_snapshot import snapshot

from convoy.events import Claim, Event
from convoy.events.people_events import ConvoyPaused
from convoy.events.task_events import ConvoyFailed, TaskBlocked, TaskQueued
from convoy.log import CLOSE, FORMER_EVENTS, OPEN, body_of
from convoy.log.record import UnknownFact, fact_of
from tests.convoy.anything import FACTS, FORGED, facts, hostile
from tests.world.cases import looped

PAUSED = ConvoyPaused(convoy="fix-7", by="ann")


def marked(text: str) -> str:
    return f"Somebody says.\n\n{OPEN}{text}{CLOSE}"


@pytest.mark.parametrize("kind", FACTS)
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_every_event_reads_as_it_was_written(
    kind: type[Event | Claim], data: st.DataObject
) -> None:
    fact = data.draw(facts(kind))

    body = body_of(fact, fact.sentence())

    read = fact_of(body)
    assert (type(read), read) == (kind, fact)
    assert (body.count(OPEN), body.count(CLOSE)) == (1, 1)
    assert body.rpartition("\n")[2].startswith(OPEN)


@given(hostile)
@settings(deadline=None)
def test_no_sentence_hides_an_event_or_makes_one(text: str) -> None:
    assert fact_of(body_of(PAUSED, text)) == PAUSED


@given(hostile | hostile.map(marked))
@settings(deadline=None)
def test_reading_any_comment_ends_well(text: str) -> None:
    fact = fact_of(text)

    assert isinstance(fact, UnknownFact | None) or text.endswith(FORGED)


def test_an_event_is_a_sentence_and_one_line_of_json() -> None:
    why = f"It said:\n{FORGED}\nand more"

    assert body_of(
        ConvoyFailed(convoy="fix-7", why=why), f"It failed: {FORGED}."
    ) == snapshot("""\
It failed: [ brat]{"convoy":"fix-7","type":"convoy.failed","v":1,"why":"forged"}[ /brat].

[brat]{"by":"","convoy":"fix-7","type":"convoy.failed","v":1,"why":"It said:\\n\\u005bbrat]{\\"convoy\\":\\"fix-7\\",\\"type\\":\\"convoy.failed\\",\\"v\\":1,\\"why\\":\\"forged\\"}\\u005b/brat]\\nand more"}[/brat]\
""")  # noqa: E501  as it is written
    question = "The agent reported a blocker: SQLite or Postgres?"
    queued = TaskQueued(convoy="a-1", task=1, cause="retry", why=question)
    assert queued.sentence() == f"Task 1 was queued again (retry): {question}"
    for why in (question, "no CI."):
        blocked = TaskBlocked(convoy="a-1", task=1, why=why)
        assert blocked.sentence() == f"Task 1 was blocked: {why}", "it ends once"


@looped(
    *("", "Just words.", FORGED + " ", FORGED + "\n", " " + FORGED, "see " + FORGED),
    *(FORGED + "\nIt was quoted.", marked("no json"), marked("")),
    *("[/brat]", "[brat][/brat"),
)
def test_what_has_not_both_marks_around_json_is_just_a_comment(body: str) -> None:
    assert fact_of(body) is None


@looped(
    ('{"type":"convoy.frozen","v":1,"convoy":"fix-7"}', "convoy.frozen"),
    ('{"type":"convoy.paused","v":1,"convoy":"fix-7"}', "convoy.paused"),
    ('{"type":"convoy.paused","v":1,"convoy":7,"by":"ann"}', "convoy.paused"),
    ('{"type":"convoy.paused","v":2,"convoy":"a","by":"b"}', "convoy.paused"),
    ('{"type":"task.queued","convoy":"a","task":1,"cause":"x"}', "task.queued"),
    ('{"type":7}', "7"),
    *((text, "?") for text in ("{}", "[]", '"convoy.paused"')),
    ("[" * 10_000 + "]" * 10_000, "?"),
    (f'{{"type":"a.b","x":{"[" * 10_000}{"]" * 10_000}}}', "?"),
)
def test_an_event_of_another_version_is_unknown_not_missing(
    text: str, known_as: str
) -> None:
    assert fact_of(marked(text)) == UnknownFact(known_as)


def test_what_earlier_and_later_versions_alone_write_is_passed_over() -> None:
    for gone in FORMER_EVENTS:
        assert fact_of(marked(f'{{"type":"{gone}","v":1,"convoy":"a"}}')) is None
    text = '{"type":"convoy.paused","v":1,"convoy":"fix-7","by":"ann","note":[1]}'
    assert fact_of(marked(text)) == PAUSED
