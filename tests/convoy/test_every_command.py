"""Every command gets an answer in every state, also where a convoy has no tasks."""

import ast
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import NoneType
from typing import Final, cast, get_args, get_type_hints

import pytest
from hypothesis import given, settings as profile, strategies as st
from msgspec import Struct
from msgspec.structs import fields

import convoy
from bot.requests.answers import convoy_comment
from convoy.events import Command, Refusal, decided
from convoy.model.records import Settings
from convoy.model.state import State
from convoy.owed import Patience
from convoy.owed.owed import owed_actions
from convoy.rules.people import FailConvoy
from convoy.rules.verdict import Observed
from convoy.views import explained_task, state_document
from tests.convoy.anything import Simple, facts, hostile
from tests.convoy.stories import STORIES
from tests.world.rules import NAME, Rules, requested, settings, sha

NOW: Final = 10_000_000


def refused_plan() -> Rules:
    """Tell of an issue whose plan cannot be: its convoy has no task."""
    asked = requested(text="- [ ] one (after 2)")
    refused = FailConvoy(convoy=NAME, why="task 1 waits for task 2, and there is none")
    return Rules().do(asked, refused)


@cache
def states() -> tuple[State, ...]:
    return tuple(_passed())


def _passed() -> Iterator[State]:
    for tell in (refused_plan, *STORIES):
        state = State()
        for fact in tell().facts:
            state = fact.change(state)
            yield state


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


def _copies() -> Iterator[tuple[str, type[Struct], type[Struct], set[str]]]:
    """Yield each `copied(Form, self, given=...)`: where, both forms, what is given."""
    for found in walk_packages(convoy.__path__, "convoy."):
        module = vars(import_module(found.name))
        for kind in ast.parse(Path(module["__file__"]).read_text()).body:
            if not isinstance(kind, ast.ClassDef):
                continue
            for call in ast.walk(kind):
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "copied":
                    form, source = map(ast.unparse, call.args)
                    where = f"{found.name}:{call.lineno}"
                    assert source == "self", f"{where}: not to be checked here"
                    given = {str(each.arg) for each in call.keywords}
                    yield where, module[form], module[kind.name], given


def test_what_is_copied_is_all_there_and_of_the_same_type() -> None:
    for where, form, source, more in _copies():
        wanted, there = get_type_hints(form), get_type_hints(source)
        needed = {each.name for each in fields(form) if each.required}
        assert more <= wanted.keys(), where
        assert needed <= there.keys() | more, where
        for name in wanted.keys() & there.keys() - more - {"v"}:
            known = {wanted[name], *get_args(wanted[name])}
            assert there[name] in known, f"{where}: {name}"
