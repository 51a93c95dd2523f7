"""The tools that decide: a tool for each word that the API and command line offer.

The table of verbs has their arguments, their help and their rules.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from bot.mcp.backend import Backend, Decision
from bot.mcp.tool import MOST_TEXT, ConvoyName, TaskNumber, Tool
from bot.verbs.verb import Verb
from bot.verbs.verb_table import BY_CONVOY_WORD, BY_TASK_WORD

_ENDS: Final = frozenset({"cancel", "drop"})
"""The words after which there is no way back."""
_EITHER: Final = "Of a task: {task} Without a task: {convoy}"


def verb_tools() -> tuple[Tool, ...]:
    """Return the tools, in the order of the table: those about tasks come first."""
    words = dict.fromkeys((*BY_TASK_WORD, *BY_CONVOY_WORD))
    return tuple(_tool(word) for word in words)


def _tool(word: str) -> Tool:
    verb = BY_TASK_WORD.get(word) or BY_CONVOY_WORD[word]
    return Tool(
        name=word,
        title=word.capitalize(),
        help=_help(word, verb),
        takes=msgspec.defstruct(
            word, [*_fields(word, verb)], forbid_unknown_fields=True
        ),
        answer=_answer(word),
        writes=True,
        ends=word in _ENDS,
    )


def _help(word: str, verb: Verb) -> str:
    task = verb.of_task.help if verb.of_task and word in BY_TASK_WORD else ""
    convoy = verb.of_convoy.help if verb.of_convoy and word in BY_CONVOY_WORD else ""
    return (
        _EITHER.format(task=task, convoy=convoy) if task and convoy else task + convoy
    )


def _fields(word: str, verb: Verb) -> Iterator[Any]:
    """Yield the fields of a word's arguments, those that may be left out last."""
    said = Annotated[str, Meta(max_length=MOST_TEXT, description=verb.text_help)]
    yield ("convoy", ConvoyName)
    if word not in BY_CONVOY_WORD:
        yield ("task", TaskNumber)
    if verb.text == "must":
        yield ("text", said)
    if word in BY_CONVOY_WORD and word in BY_TASK_WORD:
        yield ("task", TaskNumber | None, None)
    if verb.text == "may":
        yield ("text", said, "")


def _answer(word: str) -> Any:  # noqa: ANN401  as `Tool` has it
    async def answer(backend: Backend, asked: Struct) -> dict[str, Any]:
        given = msgspec.structs.asdict(asked)
        decision = Decision(
            word=word,
            convoy=given["convoy"],
            task=given.get("task") or 0,
            text=given.get("text", ""),
        )
        return {"done": True, "said": await backend.decide(decision)}

    return answer
