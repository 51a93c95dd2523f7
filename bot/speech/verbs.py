"""What a command means, and the words in which people are told what they can say.

`python -m bot.speech.verbs docs` brings docs/commands.md up to date with the registry;
a test fails while it is not.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from bot.speech.arguments import Reader
from bot.speech.cleaning import clean
from bot.speech.code_span import code_span
from bot.speech.grammar import LINE_CHARS, MOST_COMMANDS, Misheard, Said
from bot.speech.registry import BY_NAME, VERBS, Place, Verb
from bot.speech.requests import Request
from convoy.text.generated import remade
from convoy.text.nearest import did_you_mean
from convoy.text.plaintext import cut

TEXT_CHARS: Final = 20_000
"""The longest text of a command, as long as the instructions of a task."""
BEGIN: Final = "<!-- verbs: made by python -m bot.speech.verbs docs -->\n"
END: Final = "<!-- end of verbs -->\n"

_PLACES: Final = {"issue": "issues", "pull": "pull requests", "both": "both"}
_RIGHTS: Final = {
    "read": "everybody",
    "write": "who may write",
    "maintain": "who may maintain",
}


# --- checking -------------------------------------------------------------------------


def checked(said: Said, on: Place = "both") -> Request | Misheard:
    """Return what a command asks for, or why it asks for nothing. Never raises.

    Args:
        said: a command in good form.
        on: what the comment stands on; `both` does not look at it.
    """
    try:
        return _request(said, on)
    except ValueError as error:
        return Misheard(said.line or cut(f"/brat {said.verb}", LINE_CHARS), str(error))


def verb_of(request: Request) -> Verb:
    """Return the row of the registry that says who may ask for this."""
    return BY_NAME[str(request.__struct_config__.tag).partition(" ")[0]]


def _request(said: Said, on: Place) -> Request:
    verb = BY_NAME.get(said.verb)
    if verb is None:
        near = did_you_mean(said.verb, BY_NAME) or "; `/brat help` shows them all"
        raise ValueError(f"there is no verb {code_span(said.verb)}{near}")
    if {on, verb.place} == {"issue", "pull"}:
        where = {"issue": "an issue", "pull": "a pull request"}[verb.place]
        raise ValueError(f"say {code_span(verb.name)} on {where}")
    values = {**_words(verb, said.words), **_options(verb, said.options)}
    if text := _text(verb, said.text):
        values["text"] = text
    return verb.make(**values)


def _words(verb: Verb, words: Sequence[str]) -> dict[str, object]:
    """Read the words by their places."""
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
    if verb.more is None:
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
    text = clean(written, limit=TEXT_CHARS)
    if text and verb.text == "none":
        raise ValueError(f"it takes no text after `--`; write {_usage(verb)}")
    if not text and verb.text == "must":
        raise ValueError(f"it takes a text after `--`; write {_usage(verb)}")
    return text


def _usage(verb: Verb) -> str:
    return code_span(verb.usage)


# --- help -----------------------------------------------------------------------------


def help_text(verb: str | None = None) -> str:
    """Return in Markdown what can be said, or how one verb is used."""
    if verb is None:
        return (
            "A command is a line of its own, outside of lists, quotes and code; a "
            f"comment may have {MOST_COMMANDS}.\n\n{table()}"
        )
    row = BY_NAME.get(verb)
    if row is None:
        return f"There is no verb {code_span(verb)}{did_you_mean(verb, BY_NAME)}"
    where, who = _PLACES[row.place], _RIGHTS[row.right]
    return f"{_usage(row)}\n\n{row.help}\n\nOn: {where}. Who: {who}."


def table() -> str:
    """Return all verbs as a Markdown table."""
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
    head = (("say", "on", "who", "what happens"), ("---",) * 4)
    return "".join(f"| {' | '.join(row)} |\n" for row in (*head, *rows))


def with_table(page: str) -> str:
    """Return the page with the table between its two marks made anew.

    Raises:
        ValueError: a mark is missing.
    """
    return remade(page, BEGIN, END, table())


def main(argv: Sequence[str]) -> int:
    """Write the page in the folder that `argv` names; safe to call twice."""
    page = Path(argv[0]) / "commands.md"
    page.write_text(with_table(page.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
