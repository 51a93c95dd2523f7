"""Reads a well-formed command as a request, by its verb's row in the table."""

from collections.abc import Mapping, Sequence
from typing import Final

from bot.text.slash_commands import LINE_CHARS, MalformedCommand, SlashCommand
from bot.text.visible_text import clean_markdown, code_span
from bot.verbs.arguments import Reader
from bot.verbs.verb import USAGE_CHARS, Place, Request, Verb
from bot.verbs.verb_table import BY_NAME
from convoy.text import cut, did_you_mean, redacted

TEXT_CHARS: Final = 20_000
"""The longest text of a request, as long as the instructions of a task."""


def parsed(said: SlashCommand, on: Place = "both") -> Request | MalformedCommand:
    """Return a command's request, or why there is none. Never raises.

    Args:
        said: a well-formed command.
        on: where the comment is; `both` skips the check.
    """
    try:
        return _request(said, on)
    except ValueError as error:
        return MalformedCommand(
            said.line or cut(f"/brat {said.verb}", LINE_CHARS), str(error)
        )


def cleaned(text: str) -> str:
    """Return the visible part of a request's text, without secrets; safe to do twice.

    Hostile text takes seconds: async callers use a thread.
    """
    return redacted(clean_markdown(text, limit=TEXT_CHARS))


def _request(said: SlashCommand, on: Place) -> Request:
    verb = BY_NAME.get(said.verb)
    if verb is None:
        near = did_you_mean(said.verb, BY_NAME) or "; `/brat help` shows them all"
        raise ValueError(f"there is no verb {code_span(said.verb)}{near}")
    if {on, verb.place} == {"issue", "pull"}:
        where = {"issue": "an issue", "pull": "a pull request"}[verb.place]
        raise ValueError(f"say {code_span(verb.name)} on {where}")
    arguments = {**_words(verb, said.words), **_options(verb, said.options)}
    below = "" if verb.text == "none" else said.below
    return Request(verb.name, arguments, _text(verb, said.text or below))


def _words(verb: Verb, words: Sequence[str]) -> dict[str, object]:
    """Read the words by their positions."""
    if len(words) > len(verb.words):
        more = code_span(words[len(verb.words)])
        raise ValueError(f"{more} is more than it takes; write {_usage(verb)}")
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
    """Read the options by their keys."""
    known = {option.name: option for option in verb.options}
    others = {key: word for key, word in options.items() if key not in known}
    if verb.more is None or not known.keys() & options.keys():
        for key in others:
            near = did_you_mean(key, known) or f"; write {_usage(verb)}"
            raise ValueError(f"there is no option {code_span(key)}{near}")
    said = {key: _read(known[key].read, options[key]) for key in known & options.keys()}
    if verb.more is None or not others:
        return said
    read = verb.more.read
    return {
        **said,
        verb.more.name: {key: _read(read, word) for key, word in others.items()},
    }


def _read(read: Reader, word: str) -> object:
    try:
        return read(word)
    except ValueError as error:
        shown = code_span(word) if word else "nothing"
        raise ValueError(f"{shown} {error}") from error


def _text(verb: Verb, written: str) -> str:
    text = cleaned(written)
    if text and verb.text == "none":
        raise ValueError(f"it takes no text after `--`; write {_usage(verb)}")
    if not text and verb.text == "must":
        raise ValueError(f"it takes a text after `--`; write {_usage(verb)}")
    return text


def _usage(verb: Verb) -> str:
    return code_span(verb.usage, USAGE_CHARS)
