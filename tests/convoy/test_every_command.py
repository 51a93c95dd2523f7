"""Every command gets an answer in every state, also where a convoy has no tasks."""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from types import NoneType
from typing import Final, cast

import pytest
from hypothesis import given, settings as profile, strategies as st
from msgspec import Struct

import convoy
from bot.requests.answers import convoy_comment
from convoy.events import Command, Refusal, decided
from convoy.events.task_events import ConvoyFailed
from convoy.model.records import Settings
from convoy.model.state import State
from convoy.owed import Patience
from convoy.owed.owed import owed_actions
from convoy.rules.observed import Observed
from convoy.views import explained_task, state_document
from tests.convoy.anything import Simple, facts, hostile
from tests.convoy.stories import STORIES
from tests.world.rules import NAME, Rules, requested, settings, sha

NOW: Final = 10_000_000


def refused_plan() -> Rules:
    """Tell of an issue whose plan cannot be: its convoy has no task."""
    asked = requested(text="- [ ] one (after 2)")
    why = "task 1 waits for task 2, and there is none"
    return Rules().do(asked, ConvoyFailed(convoy=NAME, why=why))


@cache
def states() -> tuple[State, ...]:
    passed = []
    for tell in (refused_plan, *STORIES):
        state = State()
        for fact in tell().facts:
            state = fact.change(state)
            passed.append(state)
    return tuple(passed)


def _commands(of: type[Struct]) -> Iterator[type[Struct]]:
    for kind in of.__subclasses__():
        if kind.__module__.startswith("convoy.") and hasattr(kind, "decide"):
            yield kind
        yield from _commands(kind)


for _module in walk_packages(convoy.__path__, "convoy."):
    import_module(_module.name)
COMMANDS: Final = sorted(set(_commands(Struct)), key=lambda kind: kind.__name__)
WORDS: Final = (NAME, "ann", "default", "docs", "path:a.py", sha("a"), sha("0"), "")
SIMPLE: Final[Simple] = {
    str: st.sampled_from(WORDS) | hostile,
    int: st.integers(0, 6),
    float: st.floats(0, 10),
    bool: st.booleans(),
    bytes: st.binary(min_size=16, max_size=16),
    NoneType: st.none(),
    Settings: st.just(settings()),  # configurations are judged before
}


@pytest.mark.parametrize("kind", COMMANDS, ids=lambda kind: kind.__name__)
@profile(max_examples=15)
@given(data=st.data())
def test_it_is_allowed_or_refused_and_what_follows_can_be_shown(
    kind: type[Struct], data: st.DataObject
) -> None:
    state = data.draw(st.sampled_from(states()))
    command = data.draw(facts(kind, SIMPLE))

    decision = decided(cast("Command", command), state)

    if isinstance(decision, Refusal):
        assert decision.why
        return
    for event in decision:
        assert event.sentence()
        state = event.change(state)
    look_at(state)


def test_each_state_can_be_shown() -> None:
    assert any(not c.tasks for state in states() for c in state.convoys.values())
    for state in states():
        look_at(state)


def look_at(state: State) -> None:
    """Show a state to people, and ask what is owed in it."""
    owed_actions(state, Observed(), Patience(), NOW)
    state_document(state, NOW)
    for each in state.convoys.values():
        assert convoy_comment(each)
        for task in each.tasks:
            explained_task(state, each, task, NOW)
