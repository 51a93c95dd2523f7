"""Finds the `/brat …` commands in a comment, by their form alone.

A command is a line of a plain paragraph in the rendered comment that begins with
`/brat`, indented by at most three spaces. Text in code, quotes, lists, tables,
headings, HTML or links, or emphasised or struck, only talks about commands. What a
mail program appended to a reply is somebody else's text, and is not read.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from msgspec import Struct

from bot.markdown.code_span import code_span
from bot.markdown.mail_separators import own_end
from convoy.text import clean, cut

MOST_COMMANDS: Final = 10
"""The most commands carried out from one comment."""
LINE_CHARS: Final = 200

_NAME: Final = re.compile(r"/brat(?=\s|$)", re.IGNORECASE)
_INDENT: Final = re.compile(r" {0,3}")
# One argument: the start of the text, or a value with or without a key, with or without
# quotes. Phones write any dash for two hyphens, and other quotes and spaces.
_QUOTE: Final = '"\u201c\u201d\u201e\u00ab\u00bb'
_ARGUMENT: Final = re.compile(
    rf"""\s+(?:
        (?P<text>--?|[\u2010-\u2015\u2212])(?=\s|$)
      | (?:(?P<key>[A-Za-z][A-Za-z0-9_-]*)=)?
        (?:[{_QUOTE}](?P<quoted>(?:[^{_QUOTE}\\]|\\.)*)[{_QUOTE}](?=\s|$)
         | (?P<bare>[^\s{_QUOTE}]\S*|(?<==)))
    )""",
    re.VERBOSE,
)
_ESCAPED: Final = re.compile(r"\\(.)")


class SlashCommand(Struct, frozen=True):
    """A well-formed command; `parsing` finds out whether it is valid."""

    verb: str
    """In lower case."""
    words: tuple[str, ...] = ()
    options: dict[str, str] = {}
    """The options' values, by key in lower case."""
    text: str = ""
    """The Markdown after ` -- `, as it was written."""
    below: str = ""
    """Without a ` -- `: the Markdown below the command's line."""
    line: str = ""
    """The command's first line, for replies."""


class MalformedCommand(Struct, frozen=True):
    """A line that begins like a command but is not one."""

    line: str
    """The line as it was written, cut; show it as code."""
    why: str
    """One sentence in Markdown, with all foreign words in code."""


FoundCommand = SlashCommand | MalformedCommand


def slash_commands(text: str) -> tuple[FoundCommand, ...]:
    """Return the commands of a comment in their order. Never raises.

    Args:
        text: the comment as the forge gives it.

    A command's text begins after ` -- ` and goes on below until the next command.
    """
    text = clean(text)
    if "/brat" not in text.lower():
        return ()
    lines = text.split("\n")
    tokens = _MARKDOWN.parse(text)
    lines = lines[: own_end(lines, tokens)]
    starts = [at for at in sorted(_command_lines(tokens)) if at < len(lines)]
    found = [
        _said(lines[start].strip(), _below(lines, start, starts))
        for start in starts[:MOST_COMMANDS]
    ]
    if len(starts) > MOST_COMMANDS:
        line = cut(lines[starts[MOST_COMMANDS]].strip(), LINE_CHARS)
        why = f"only {MOST_COMMANDS} commands of one comment are heard, and this is"
        found.append(
            MalformedCommand(line, f"{why} one more; say the rest in a new comment")
        )
    return tuple(found)


# --- which lines ----------------------------------------------------------------------


def _note_command(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  markdown-it's form of a rule
    """Make a token of each `/brat` at the beginning of a line."""
    if not _NAME.match(state.src, state.pos):
        return False
    start = state.src.rfind("\n", 0, state.pos) + 1
    if not _INDENT.fullmatch(state.src, start, state.pos):
        return False
    if not silent:
        token = state.push("command", "", 0)
        token.meta["line"] = state.src.count("\n", 0, state.pos)
    state.pos += len("/brat")
    return True


_MARKDOWN: Final = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_MARKDOWN.inline.ruler.before("text", "command", _note_command)


def _command_lines(tokens: Sequence[Token]) -> Iterator[int]:
    for opening, inline in pairwise(tokens):
        if opening.type == "paragraph_open" and opening.level == 0 and inline.map:
            for line in _plain_commands(inline.children or []):
                yield inline.map[0] + line


def _plain_commands(tokens: Sequence[Token]) -> Iterator[int]:
    depth = 0
    for token in tokens:
        depth += token.nesting
        if token.type == "command" and depth == 0:
            yield token.meta["line"]


def _below(lines: Sequence[str], start: int, starts: Sequence[int]) -> list[str]:
    """Return the lines that may continue a command's text."""
    end = start + 1
    while end < len(lines) and end not in starts:
        end += 1
    return [line.rstrip() for line in lines[start + 1 : end]]


# --- what they say --------------------------------------------------------------------


def _said(line: str, below: list[str]) -> FoundCommand:
    """Split one command into its parts."""
    shown = cut(line, LINE_CHARS)
    words: list[str] = []
    options: dict[str, str] = {}
    text = ""
    at = len("/brat")
    while at < len(line):
        found = _ARGUMENT.match(line, at)
        if found is None:
            return MalformedCommand(
                shown, f"the quotes in {code_span(line[at:])} do not pair"
            )
        at = found.end()
        if found["text"]:
            text = "\n".join([line[at:].strip(), *below]).strip()
            below = []
            break
        key, value = (found["key"] or "").lower(), _value(found)
        if key in options:
            return MalformedCommand(
                shown, f"the option {code_span(key)} is given twice"
            )
        if key:
            options[key] = value
        else:
            words.append(value)
    if not words:
        return MalformedCommand(
            shown, "it lacks a verb; `/brat help` shows what can be said"
        )
    return SlashCommand(
        words[0].lower(),
        tuple(words[1:]),
        options,
        text,
        "\n".join(below).strip(),
        shown,
    )


def _value(found: re.Match[str]) -> str:
    if found["quoted"] is not None:
        return _ESCAPED.sub(r"\1", found["quoted"])
    return found["bare"]
