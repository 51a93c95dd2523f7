"""Each verb of the table can be asked for from each place that its row names."""

import json
from collections.abc import Mapping
from typing import Any, Final

import click
import pytest
from hypothesis import given, strategies as st

from bot.dashboard.application import DESCRIPTION
from bot.requests.answers import convoy_comment, request_of_box
from bot.requests.verb import Endpoint, Request
from bot.requests.verb_table import (
    BY_CONVOY_WORD,
    BY_TASK_WORD,
    VERBS,
    NoSuchWord,
    convoy_buttons,
    endpoint_of,
    request_by_word,
    task_buttons,
)
from bot.text.slash_commands import ticked_in, unticked
from brat.commands.command_line import command_line
from convoy.events.people_events import ConvoyPaused
from tests.world.cases import looped
from tests.world.rules import NAME, Rules, spec

APP: Final = command_line("task")
TEXT: Final = "Write it down"


def typed(words: str) -> str | None:
    group, word = words.split()
    below = APP.commands[group]
    assert isinstance(below, click.Group)
    return below.commands[word].help


def offered(operation: str) -> list[str]:
    paths: Mapping[str, Any] = json.loads(DESCRIPTION.read_text())["paths"]
    for path in paths.values():
        if path.get("post", {}).get("operationId") == operation:
            for parameter in path["post"]["parameters"]:
                if parameter.get("name") == "verb":
                    return list(parameter["schema"]["enum"])
    raise AssertionError(operation)


@looped(*[end for verb in VERBS for end in (verb.of_task, verb.of_convoy) if end])
def test_the_interface_and_the_command_line_ask_for_it(end: Endpoint[Any]) -> None:
    of_task = any(end is verb.of_task for verb in VERBS)
    request = request_by_word(end.word, 3 if of_task else 0, TEXT)

    assert endpoint_of(request) is end
    assert request_by_word(end.word, 3 * of_task, f"\n{TEXT}\n") == request
    assert end.word in offered("decideTask" if of_task else "decideConvoy")
    if end.typed:
        assert typed(end.typed) == end.help


def test_no_more_is_offered_and_buttons_are_where_they_can_be_pressed() -> None:
    assert offered("decideTask") == [*BY_TASK_WORD]
    assert offered("decideConvoy") == [*BY_CONVOY_WORD]
    with pytest.raises(NoSuchWord, match="why works only in a comment"):
        endpoint_of(Request("why", {"task": 1}))

    rules = Rules().planned(spec(1), spec(2), spec(3), approve="plan")
    planned = convoy_buttons(rules.convoy)
    rules = Rules().planned(spec(1), spec(2), spec(3)).started(1)
    rules.blocked(2, "no CI")
    tasks = [task_buttons(rules.task(number)) for number in (1, 2, 3)]
    active = convoy_buttons(rules.convoy)
    paused = convoy_buttons(rules.do(ConvoyPaused(convoy=NAME, by="ann")).convoy)

    assert planned == ("approve", "revise", "cancel")
    assert active == ("pause", "cancel")
    assert paused == ("resume", "cancel")
    assert tasks == [
        ("tell", "stop", "drop", "hold"),
        ("retry", "tell", "drop", "hold"),
        ("tell", "drop", "hold"),
    ]
    shown = {word for words in (*tasks, planned, active, paused) for word in words}
    no_button = {"add", "allow", "split"}
    if_proposed = {"follow", "release"}
    assert shown == {*BY_TASK_WORD, *BY_CONVOY_WORD} - no_button - if_proposed


# --- boxes in a convoy's comment ------------------------------------------------------

FORGED = "- [x] Cancel <!-- brat:box=cancel -->"


@looped(
    ("approve", Request("approve")),
    ("cancel", Request("cancel")),
    ("retry/12", Request("retry", {"task": 12})),
    ("retry", None),
    ("cancel/1", None),
    ("drop/1", None),
)
def test_a_box_asks_as_a_command_does(key: str, request_: Request | None) -> None:
    assert request_of_box(key) == request_


@given(st.sets(st.sampled_from(["retry/2", "cancel"])))
def test_ticks_are_found_in_the_comment_and_can_be_taken_back(ticked: set[str]) -> None:
    """A title or a reason makes no box."""
    rules = Rules().planned(spec(1, title=f"x\n{FORGED}"), spec(2))
    convoy = rules.blocked(2, f"y\n{FORGED}").convoy
    text = convoy_comment(convoy, frozenset(ticked))

    assert ticked_in(text) == ticked
    assert ticked_in(text.replace("\n", "\r\n")) == ticked
    assert unticked(text) == convoy_comment(convoy)
