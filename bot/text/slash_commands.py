"""What a comment asks for: `/brat` commands, mentions of the bot, and ticked boxes.

A command is a line of a plain paragraph in the rendered comment that begins with
`/brat`, indented by at most three spaces, in a comment whose first line outside of
quotes is one: what stands below other words may be quoted. Text in code, quotes, lists,
tables, headings, HTML or links, or emphasised or struck, only talks about commands; so
it is with mentions. Nothing is obeyed below folded text or a footnote. Quoted lines
(`> `) end nothing: people answer below them.
https://docs.github.com/get-started/writing-on-github (mentions)
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from msgspec import Struct

from bot.text.visible_text import code_span
from convoy.text import clean

_FOOTNOTE: Final = re.compile(r" {0,3}\[\^[^\]]+\]:")
_TAG: Final = re.compile(r"<(/?)(?!br\b|hr\b|img\b|wbr\b)[A-Za-z]")
_LINE_BREAKS: Final = ("softbreak", "hardbreak")


def _obeyed_end(lines: Sequence[str], tokens: Sequence[Token]) -> int:
    """Return the line from which words may be quoted: HTML, or a footnote."""
    notes = (at for at, line in enumerate(lines) if _FOOTNOTE.match(line))
    return min([len(lines), *_html_lines(tokens), *notes])


def _html_lines(tokens: Sequence[Token]) -> Iterator[int]:
    """Yield where a block of HTML begins, or the line below a tag that is left open."""
    for token in tokens:
        if token.map is None:
            continue
        at, opened, is_open = token.map[0], 0, 0
        if token.type == "html_block" and _TAG.search(token.content):
            yield at
        for each in token.children or ():
            at += each.type in _LINE_BREAKS
            if each.type == "html_inline" and (tag := _TAG.match(each.content)):
                is_open += -1 if tag[1] else 1
                opened = at if is_open == 1 and not tag[1] else opened
        if is_open > 0:
            yield opened + 1


_BOX: Final = re.compile(
    r"^- \[(?P<tick>[ xX])\] .*<!-- brat:box=(?P<key>[a-z]+(?:/[1-9][0-9]{0,8})?) -->$",
    re.MULTILINE,
)


def box_line(key: str, says: str, *, ticked: bool) -> str:
    return f"- [{'x' if ticked else ' '}] {says} <!-- brat:box={key} -->"


def ticked_in(text: str) -> frozenset[str]:
    found = _BOX.finditer(text.replace("\r\n", "\n"))
    return frozenset(each["key"] for each in found if each["tick"] in "xX")


def unticked(text: str) -> str:
    return _BOX.sub(lambda found: found[0].replace(found["tick"], " ", 1), text)


def may_mention(text: str, login: str) -> bool:
    """Whether a text is worth parsing for a mention of the bot."""
    return bool(login) and _mention_of(login).search(text) is not None


def mentioned(text: str, login: str) -> str | None:
    """Return a text without the bot's name; None: it is not there."""
    text = clean(text)
    if not may_mention(text, login):
        return None
    tokens = _MARKDOWN.parse(text)
    obeyed = _obeyed_end(text.split("\n"), tokens)
    for line, token in _plain(tokens):
        is_text = token.type == "text" and line < obeyed
        if is_text and may_mention(token.content, login):
            return _mention_of(login).sub("", text).strip(" \t\n,:")
    return None


def _plain(tokens: Sequence[Token]) -> Iterator[tuple[int, Token]]:
    """Give what is in no link, emphasis or tag, and where its paragraph begins."""
    for opening, inline in pairwise(tokens):
        if opening.type == "paragraph_open" and opening.level == 0 and inline.map:
            depth = tags = 0
            for token in inline.children or []:
                depth += token.nesting
                if token.type == "html_inline" and (tag := _TAG.match(token.content)):
                    tags = max(0, tags + (-1 if tag[1] else 1))
                if depth == tags == 0:
                    yield inline.map[0], token


@cache
def _mention_of(login: str) -> re.Pattern[str]:
    name = re.escape(login.removesuffix("[bot]"))
    return re.compile(rf"(?<![\w@/.`-])@{name}(?:\[bot\])?(?![\w-])", re.IGNORECASE)


MOST_COMMANDS: Final = 10
"""The most commands carried out from one comment."""

_NOT_FIRST: Final = (
    "this command follows other text, which may be quoted, so brat did not carry it "
    "out; put the command at the start of a comment"
)
_COMMAND_NAME: Final = re.compile(r"/brat(?=\s|$)", re.IGNORECASE)
_INDENT: Final = re.compile(r" {0,3}")
# One argument: the start of the text, or a value with or without a key, with or without
# quotes. Phones write any dash for two hyphens, and other quotes and spaces.
_QUOTE: Final = '"\u201c\u201d\u201e\u00ab\u00bb'
_ARGUMENT: Final = re.compile(
    rf"""\s+(?:
        (?P<text>--?|[\u2010-\u2015\u2212])(?=\s|$)
      | (?:(?P<key>[A-Za-z][A-Za-z0-9_-]*)=)?
        (?:"(?P<quoted>(?:[^"\\]|\\.)*)"(?=\s|$)
         | [{_QUOTE}](?P<typeset>(?:[^{_QUOTE}\\]|\\.)*)[{_QUOTE}](?=\s|$)
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


class MalformedCommand(Struct, frozen=True):
    """A line that begins like a command but is not one."""

    why: str
    """One sentence in Markdown, with all foreign words in code."""


FoundCommand = SlashCommand | MalformedCommand


def slash_commands(text: str) -> tuple[FoundCommand, ...]:
    """Return the commands of a comment in their order. Never raises.

    A command's text begins after ` -- ` and goes on below until the next command.
    """
    text = clean(text)
    if "/brat" not in text.lower():
        return ()
    lines = text.split("\n")
    tokens = _MARKDOWN.parse(text)
    obeyed = _obeyed_end(lines, tokens)
    commands = (at for at in _plain(tokens) if at[1].type == "command")
    found_at = sorted(line + int(token.meta["line"]) for line, token in commands)
    starts = [at for at in found_at if at < obeyed]
    if starts and starts[0] != _first_line(tokens):
        return (MalformedCommand(_NOT_FIRST),)
    found = [
        _command_in(lines[start].strip(), [*map(str.rstrip, lines[start + 1 : end])])
        for start, end in pairwise([*starts, len(lines)][: MOST_COMMANDS + 1])
    ]
    if len(starts) > MOST_COMMANDS:
        why = f"a comment can contain only {MOST_COMMANDS} commands"
        found.append(MalformedCommand(f"{why}; put the rest in a new comment"))
    return tuple(found)


def _note_command(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  markdown-it's form of a rule
    """Make a token of each `/brat` at the beginning of a line."""
    if not _COMMAND_NAME.match(state.src, state.pos):
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


def _first_line(tokens: Sequence[Token]) -> int:
    """Return the first line that is not in a quote; without any: -1."""
    depth = 0
    for token in tokens:
        if token.type.startswith("blockquote"):
            depth += token.nesting
        elif not depth and token.map:
            return token.map[0]
    return -1


def _command_in(line: str, below: list[str]) -> FoundCommand:
    words: list[str] = []
    options: dict[str, str] = {}
    text, is_bare = "", True
    at = len("/brat")
    while at < len(line):
        found = _ARGUMENT.match(line, at)
        if found is None:
            return MalformedCommand(
                f"the quotes in {code_span(line[at:])} do not match"
            )
        at = found.end()
        if found["text"]:
            text = "\n".join([line[at:].strip(), *below]).strip()
            below = []
            break
        key, typeset = (found["key"] or "").lower(), found["typeset"]
        inside = found["quoted"] if found["quoted"] is not None else typeset
        value = found["bare"] if inside is None else _ESCAPED.sub(r"\1", inside)
        if key in options:
            return MalformedCommand(f"the option {code_span(key)} appears twice")
        if key:
            options[key] = value
        else:
            words.append(value)
            is_bare = found["bare"] is not None
    if words and is_bare:  # as at the end of a sentence
        words[-1] = words[-1].rstrip(".,!") or words[-1]
    elif not words:
        return MalformedCommand(
            "the command is missing; `/brat help` lists all commands"
        )
    rest = "\n".join(below).strip()
    return SlashCommand(words[0].lower(), tuple(words[1:]), options, text, rest)
