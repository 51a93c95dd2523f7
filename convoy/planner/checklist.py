"""Finds the task list in an issue's text: the items that GitHub shows with a box.

A real Markdown parser decides what a list item is, so that code, quotes and comments
hold no tasks. A box inside an item belongs to that item; a box under a plain bullet is
an item, and so is one that only names an issue, under an item with no other boxes.
https://github.github.com/gfm/#task-list-items-extension-
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from markdown_it import MarkdownIt
from markdown_it.token import Token

_BOX = re.compile(r"\[([ xX])\][ \t\n]+(?=\S)")
_TYPED = re.compile(
    r"^([ \t]*)(?:([-*+]|[0-9]{1,9}[.)])|[\u2010-\u2015\u2212•‣◦▪●])([^\S\n]+)"
    r"\[([^\S\n]|[xX])\](?=[^\S\n]+\S)"
)
"""A box as phones type it, with other dashes and spaces."""
_BLOCKS = MarkdownIt("commonmark").disable(["inline", "text_join"])
_QUOTED = {"fence", "code_block", "html_block", "blockquote_open"}
_REFERENCE = re.compile(
    r"(?:[\w.-]+/[\w.-]+)?#[0-9]{1,9}"
    r"|https?://[^\s/]+/[^\s/]+/[^\s/]+/(?:issues|pull)/[0-9]{1,9}\S*"
)
_EMPTY_LINES = re.compile(r"\n(?:[ \t]*\n)+")
_TAB = 4


@dataclass(frozen=True)
class Item:
    """One box of the list."""

    number: int
    """Its place in the text, from 1, counting ticked boxes."""
    done: bool
    lines: tuple[str, ...]
    """Its Markdown without bullet, box and indentation."""
    lead: int
    """How many of the lines form its first paragraph."""
    quoted: frozenset[int]
    """Indexes of the lines that are code or quotes."""
    at: int = 0
    """The line of the text with its box, from 0."""
    bullet: str = "- "
    """What stands before the box, or before that of the item that it goes beside."""

    @property
    def reference(self) -> str:
        """The issue that it consists of, as written; empty: it says more."""
        return reference_in(" ".join(self.lines))


@dataclass(frozen=True)
class Checklist:
    """An issue's text, split into task list items and the rest."""

    items: tuple[Item, ...]
    around: str
    """The text outside the items."""
    headings: tuple[int, ...] = ()
    """The lines of boxes that are no items: those inside them only name issues."""


def reference_in(words: str) -> str:
    """Return the issue that words consist of, as written; empty: they say more."""
    return words.strip() if _REFERENCE.fullmatch(words.strip()) else ""


def checklist(text: str) -> Checklist:
    """Return all items of all task lists in `text`, in their order.

    Args:
        text: Markdown whose lines end in newlines only.
    """
    text, tokens = _parsed(text)
    lines = text.split("\n")
    items: list[Item] = []
    inside: set[int] = set()
    headings: list[int] = []
    beside: dict[range, str] = {}
    at = 0
    while at < len(tokens):
        end = at + 1
        if tokens[at].type == "blockquote_open":
            end = _close(tokens, at)
        elif box := _box(tokens, at):
            end, span, is_heading = _extent(tokens, at, box)
            if is_heading:
                headings.append(span.start)
                at = end
                continue
            item = _item(len(items) + 1, box, tokens[at:end], lines, span.stop)
            above = (kept for each, kept in beside.items() if item.at in each)
            items.append(replace(item, bullet=next(above, item.bullet)))
            if end == at + 3:
                beside.setdefault(_span(tokens[at]), items[-1].bullet)
            inside.update(span)
        at = end
    outside = ("" if number in inside else line for number, line in enumerate(lines))
    around = _EMPTY_LINES.sub("\n\n", "\n".join(outside)).strip()
    return Checklist(tuple(items), around, tuple(headings))


def _parsed(text: str) -> tuple[str, list[Token]]:
    """Return the text with each box as Markdown has it, and its blocks."""
    tokens, lines = _BLOCKS.parse(text), text.split("\n")
    quoted = {n for each in tokens if each.type in _QUOTED for n in _span(each)}
    meant = [
        line if number in quoted else _TYPED.sub(_as_markdown, line)
        for number, line in enumerate(lines)
    ]
    if meant == lines:
        return text, tokens
    text = "\n".join(meant)
    return text, _BLOCKS.parse(text)


def _as_markdown(typed: re.Match[str]) -> str:
    indent, bullet, gap, box = typed[1], typed[2] or "-", typed[3], typed[4]
    if typed[2] and not gap.strip(" \t") and box in " xX":
        return typed[0]
    return f"{indent}{bullet} [{box.strip() or ' '}]"


def _extent(
    tokens: Sequence[Token], at: int, box: re.Match[str]
) -> tuple[int, range, bool]:
    """Return where an item ends, its lines, and whether it is only a heading."""
    end = _close(tokens, at)
    if box[1] != " " or not _only_names_issues(tokens, at, end):
        return end, _span(tokens[at]), False
    return at + 3, _span(tokens[at + 1]), not _named(tokens, at, box)


def _only_names_issues(tokens: Sequence[Token], at: int, end: int) -> bool:
    """Whether an item holds boxes, and each of them nothing but an issue."""
    boxes = ((each, _box(tokens, each)) for each in range(at + 1, end))
    found = [_named(tokens, each, box) for each, box in boxes if box]
    return bool(found) and all(found)


def _named(tokens: Sequence[Token], at: int, box: re.Match[str]) -> str:
    return reference_in(tokens[at + 2].content[box.end() :])


def _box(tokens: Sequence[Token], at: int) -> re.Match[str] | None:
    """Return the box that opens the item at `at`, or None when it is not a task."""
    opening = [token.type for token in tokens[at : at + 3]]
    if opening != ["list_item_open", "paragraph_open", "inline"]:
        return None
    return _BOX.match(tokens[at + 2].content)


def _close(tokens: Sequence[Token], at: int) -> int:
    """Return the index of the token that closes the one at `at`."""
    level = tokens[at].level
    return next(
        index
        for index in range(at + 1, len(tokens))
        if tokens[index].level == level and tokens[index].nesting == -1
    )


def _item(
    number: int,
    box: re.Match[str],
    tokens: Sequence[Token],
    lines: Sequence[str],
    stop: int,
) -> Item:
    """Return the item of a box whose lines end before `stop`."""
    paragraph = _span(tokens[1])
    start = paragraph.start
    first = lines[start]
    bullet = first.index("[")
    width = len(first[:bullet].expandtabs(_TAB))
    rest = list(lines[start + 1 : stop])
    while rest and not rest[-1].strip():
        rest.pop()
    return Item(
        number=number,
        done=box[1] != " ",
        lines=(
            first[bullet + 3 :].strip(),
            *(_dedented(line, width).rstrip() for line in rest),
        ),
        lead=len(paragraph),
        quoted=frozenset(
            line - start
            for token in tokens
            if token.type in _QUOTED
            for line in _span(token)
        ),
        at=start,
        bullet=first[:bullet],
    )


def _span(token: Token) -> range:
    """Return the numbers of the source lines of a block."""
    first, end = token.map or (0, 0)
    return range(first, end)


def _dedented(line: str, width: int) -> str:
    """Take away up to `width` columns of white space."""
    columns = 0
    for index, letter in enumerate(line):
        if columns >= width or letter not in " \t":
            return line[index:]
        columns += _TAB - columns % _TAB if letter == "\t" else 1
    return ""
