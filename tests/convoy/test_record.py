from itertools import pairwise

from hypothesis import given, settings as examples, strategies as st
from msgspec.structs import replace

from convoy.events.people_events import ConvoyPaused, ConvoyResumed
from convoy.log import CLOSE, OPEN
from convoy.log.record import EVENTS, fact_of, fold
from convoy.model.state import Convoy, State
from convoy.model.work import Convoys
from convoy.rules.plans import PlanConvoy
from grite.event import CommentAdded, IssueCreated
from tests.convoy.anything import hostile
from tests.convoy.stories import STORIES, Story, story
from tests.world.rules import NAME, Rules, requested, spec

# --- facts are read as they were written ----------------------------------------------


@story
def test_the_whole_log_read_at_once_gives_the_same_state(tell: Story) -> None:
    rules = tell()

    read = fold(State(), rules.state.moment.commit, rules.written)

    none = Convoys[Convoy]()
    assert replace(read, convoys=none) == replace(rules.state, convoys=none)
    assert [(t.state, t.notes, t.worked_ms) for t in read.convoys[NAME].tasks] == [
        (t.state, t.notes, t.worked_ms) for t in rules.convoy.tasks
    ]


def test_the_stories_have_every_fact_a_bot_writes() -> None:
    assert {type(fact) for tell in STORIES for fact in tell().facts} == {*EVENTS}


@given(st.lists(st.integers(0, 2_000_000), min_size=1, max_size=6))
@examples(max_examples=30, deadline=None)
def test_times_never_go_back_with_the_clock(clocks: list[int]) -> None:
    rules = Rules().planned(spec(1))
    for clock in clocks:
        rules.now = clock
        rules.do(ConvoyPaused(convoy=NAME, by="ann"))
        rules.do(ConvoyResumed(convoy=NAME, by="ann"))

    times = [event.ts for event in rules.written]

    assert all(before < after for before, after in pairwise(times))
    assert rules.state.moment.at == times[-1]


@given(title=hostile, text=hostile)
@examples(max_examples=40, deadline=None)
def test_no_text_of_a_person_becomes_an_event_or_hides_one(
    title: str, text: str
) -> None:
    tasks = (spec(1, title=title, instructions=text), spec(2))
    rules = Rules().do(
        requested(title=title, text=text),
        PlanConvoy(convoy=NAME, planner="test", tasks=tasks),
    )
    rules.dropped(2, text).started(1).lost(1, text)

    bodies = [e.kind.body for e in rules.written if isinstance(e.kind, CommentAdded)]
    shown = [e.kind for e in rules.written if isinstance(e.kind, IssueCreated)]
    assert [*map(fact_of, bodies)] == rules.facts
    assert all(body.count(OPEN) == body.count(CLOSE) == 1 for body in bodies)
    for kind in shown:
        assert not any(mark in f"{kind.title}{kind.body}" for mark in (OPEN, CLOSE))
    assert (rules.convoy.title, rules.convoy.text) == (title, text)
    assert rules.task(1).spec.instructions == rules.task(2).why == text
