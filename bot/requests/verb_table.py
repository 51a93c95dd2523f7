"""The one table of verbs, the help made from it, and what reads a request by it. Pure.

Add a verb as a rule of its family beside this file, with its row above and its reply.
Comments, boxes, buttons, the API, the command line, the help and the pages come from
the table: `make docs` writes docs/commands.md and the dashboard's openapi.json.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from bot.requests import convoy_verbs, plan_verbs, pull_verbs, work_verbs
from bot.requests.verb import (
    USAGE_CHARS,
    Argument,
    Endpoint,
    NotPossible,
    Place,
    Reader,
    Request,
    Verb,
)
from bot.text.slash_commands import MOST_COMMANDS, MalformedCommand, SlashCommand
from bot.text.visible_text import clean_markdown, code_span
from convoy.model.state import Convoy, Task
from convoy.text import did_you_mean
from convoy.text.redaction import redacted
from grite.errors import BratError

_PLACES: Final = {"issue": "issues", "pull": "pull requests", "both": "both"}
_RIGHTS: Final = {"read": "any", "write": "write", "maintain": "maintain"}


def _verb(word: str) -> str:
    if word.lower() in BY_NAME:
        return word.lower()
    raise ValueError(f"is not a command{did_you_mean(word, BY_NAME)}")


VERBS: Final = (
    Verb(
        lambda _, *, verb=None: help_text(verb),
        name="help",
        right="read",
        words=(Argument(name="verb", read=_verb, form="<verb>", needed=False),),
        help="Lists all commands, or explains one.",
        asks=True,
    ),
    *convoy_verbs.READING,
    convoy_verbs.start,
    convoy_verbs.approve,
    work_verbs.retry,
    *work_verbs.REVISION,
    work_verbs.tell,
    *convoy_verbs.PAUSE,
    *work_verbs.ENDING,
    *plan_verbs.PLAN,
    convoy_verbs.priority,
    plan_verbs.split,
    *plan_verbs.QUEUE,
    *pull_verbs.LAND,
    *convoy_verbs.LOCK,
)
"""Every verb, in the order of the help, the boxes and the buttons."""

BY_NAME: Final = {verb.name: verb for verb in VERBS}
BY_TASK_WORD: Final = {v.of_task.word: v for v in VERBS if v.of_task is not None}
"""The verbs about a task for button, API and command line, by their endpoint's word."""
BY_CONVOY_WORD: Final = {v.of_convoy.word: v for v in VERBS if v.of_convoy is not None}
"""The verbs about a convoy for button, API and command line, by endpoint word."""


def help_text(verb: str | None = None) -> str:
    if verb is None:
        return (
            "Write each command on its own line, outside lists, quotes and code. A "
            f"comment can contain up to {MOST_COMMANDS} commands.\n\n{table()}"
        )
    row = BY_NAME[verb]
    where, right = _PLACES[row.place], _RIGHTS[row.right]
    return f"{_usage(row)}\n\n{row.help}\n\nOn: {where}. Access: {right}."


def table() -> str:
    rows = (
        # A table's cell ends at a `|`, in code too.
        (
            _usage(verb).replace("|", r"\|"),
            _PLACES[verb.place],
            _RIGHTS[verb.right],
            verb.help,
        )
        for verb in VERBS
    )
    head = (("command", "on", "access", "what it does"), ("---",) * 4)
    return "".join(f"| {' | '.join(row)} |\n" for row in (*head, *rows))


REQUEST_CHARS: Final = 20_000
"""The longest text of a request, as long as the instructions of a task."""


def parsed(said: SlashCommand, on: Place = "both") -> Request | MalformedCommand:
    """Return a command's request at a place, or why there is none. Never raises."""
    try:
        return _request(said, on)
    except ValueError as error:
        return MalformedCommand(str(error))


def clean_request(text: str) -> str:
    """Return the visible text, without secrets; safe to repeat, and slow if hostile."""
    return redacted(clean_markdown(text, limit=REQUEST_CHARS))


def _request(said: SlashCommand, on: Place) -> Request:
    verb = BY_NAME.get(said.verb)
    if verb is None:
        near = did_you_mean(said.verb, BY_NAME) or "; `/brat help` lists all commands"
        raise ValueError(f"there is no command {code_span(said.verb)}{near}")
    if {on, verb.place} == {"issue", "pull"}:
        where = {"issue": "an issue", "pull": "a pull request"}[verb.place]
        raise ValueError(f"use {code_span(verb.name)} on {where}")
    arguments = {**_words(verb, said.words), **_options(verb, said.options)}
    below = "" if verb.text == "none" else said.below
    text = clean_request(said.text or below)
    if text and verb.text == "none":
        raise ValueError(f"this command takes no text after `--`; write {_usage(verb)}")
    if not text and verb.text == "must":
        raise ValueError(f"this command needs text after `--`; write {_usage(verb)}")
    return Request(verb.name, arguments, text)


def _words(verb: Verb, words: Sequence[str]) -> dict[str, object]:
    if len(words) > len(verb.words):
        more = code_span(words[len(verb.words)])
        raise ValueError(f"unexpected argument {more}; write {_usage(verb)}")
    for lacking in verb.words[len(words) :]:
        if lacking.needed:
            raise ValueError(
                f"{code_span(lacking.form)} is missing; write {_usage(verb)}"
            )
    return {
        argument.name: _read(argument.read, word)
        for argument, word in zip(verb.words, words, strict=False)
    }


def _options(verb: Verb, options: Mapping[str, str]) -> dict[str, object]:
    known = {option.name: option for option in verb.options}
    others = {key: word for key, word in options.items() if key not in known}
    if verb.more is None or not known.keys() & options.keys():
        for key in others:
            near = did_you_mean(key, known) or f"; write {_usage(verb)}"
            raise ValueError(f"there is no option {code_span(key)}{near}")
    said = {key: _read(known[key].read, options[key]) for key in known & options.keys()}
    if verb.more is not None and others:
        read = verb.more.read
        said[verb.more.name] = {key: _read(read, word) for key, word in others.items()}
    return said


def _read(read: Reader, word: str) -> object:
    try:
        return read(word)
    except ValueError as error:
        shown = code_span(word) if word else "an empty value"
        raise ValueError(f"{shown} {error}") from error


def _usage(verb: Verb) -> str:
    return code_span(verb.usage, USAGE_CHARS)


class NoSuchWord(BratError):
    """The verb table has no such endpoint."""


def request_by_word(word: str, task: int = 0, text: str = "") -> Request:
    """Return the request for an endpoint's word; hostile text takes seconds.

    Task 0 is the convoy. The text is ignored where the verb takes none.

    Raises:
        NoSuchWord: no endpoint has this word.
        NotPossible: the text is missing.
    """
    words = BY_TASK_WORD if task else BY_CONVOY_WORD
    if word not in words:
        raise NoSuchWord(f"unknown command {word}; use one of: {', '.join(words)}")
    verb = words[word]
    said = clean_request(text.strip("\n")) if verb.text != "none" else ""
    if verb.text == "must" and not said.strip():
        raise NotPossible(f"{word} needs text")
    return Request(verb.name, {"task": task} if task else {}, said)


def endpoint_of(request: Request) -> Endpoint[Any]:
    verb = BY_NAME[request.verb]
    is_of_task = "task" in request.arguments
    found: Endpoint[Any] | None = verb.of_task if is_of_task else verb.of_convoy
    if found is None:
        raise NoSuchWord(f"{verb.name} works only in a comment")
    return found


def task_buttons(task: Task) -> tuple[str, ...]:
    ends = ((word, verb.of_task) for word, verb in BY_TASK_WORD.items())
    return tuple(word for word, end in ends if end and end.button(task))


def convoy_buttons(convoy: Convoy) -> tuple[str, ...]:
    ends = ((word, verb.of_convoy) for word, verb in BY_CONVOY_WORD.items())
    return tuple(word for word, end in ends if end and end.button(convoy))
