"""Markdown, parsed so that each construct that can hide text knows its place.

markdown-it keeps the lines of blocks and no places inside of them, so its rules are
wrapped here: they note where they began and ended.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, Final
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, html_block, reference
from markdown_it.rules_inline import (
    StateInline,
    backtick,
    entity,
    html_inline,
    image,
    link,
)
from markdown_it.token import Token

Env = dict[str, Any]
"""What markdown-it's blocks leave for its inline rules: the link references."""
Rule = Callable[[StateInline, bool], bool]

# https://github.github.com/gfm/#html-comment and what follows there
_OLD: Final = re.compile(
    r"<!--(?!-?>)(?:(?!--)[\s\S])*+-->|<![A-Z]+\s|<!\[CDATA\[", re.ASCII
)
_SMALL: Final = re.compile(r"<![a-z]")
_IN_URLS: Final = "%!#$&'*+,-./:;=?@[]_~"


class _Markdown(MarkdownIt):
    """CommonMark with tables, in which any address is a link, as on the forge."""

    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802  markdown-it's
        """Take every address; ours are judged when they are written again."""
        return True

    def normalizeLink(self, url: str) -> str:  # noqa: N802  markdown-it's name
        """Return the address so that it can stand in round brackets."""
        return quote(url, safe=_IN_URLS)


def _noting(kind: str, rule: Rule) -> Rule:
    """Wrap a rule: its token's meta says from where to where it read."""

    # markdown-it calls rules with these two by their places.
    def noting(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  see above
        start, count = state.pos, len(state.tokens)
        if not rule(state, silent):
            return False
        token = next((each for each in state.tokens[count:] if each.type == kind), None)
        if token is not None and not silent:
            token.meta["span"] = (start, state.pos)
            if kind == "link_open":
                label = state.md.helpers.parseLinkLabel(
                    state, start, disableNested=True
                )
                token.meta["label_end"] = label
        return True

    return noting


def _reference(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001  markdown-it's form of a rule
    """Read a link reference; what begins with `[^` is a footnote on the forge."""
    if state.src.startswith("[^", state.bMarks[start] + state.tShift[start]):
        return False
    return reference(state, start, end, silent)


def _html_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001  markdown-it's form of a rule
    """Read an HTML block; the forge begins none with a small declaration."""
    if _SMALL.match(state.src, state.bMarks[start] + state.tShift[start]):
        return False
    return html_block(state, start, end, silent)


def _html_inline(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  markdown-it's form of a rule
    """Read inline HTML; of comments and declarations only those of older Markdown."""
    newer = state.src.startswith("<!", state.pos)
    if newer and not _OLD.match(state.src, state.pos):
        return False
    return html_inline(state, silent)


_PARSER: Final = _Markdown("commonmark").enable("table").disable("inline")
_PARSER.block.ruler.at("reference", _reference)
_PARSER.block.ruler.at(
    "html_block", _html_block, {"alt": ["paragraph", "reference", "blockquote"]}
)
for _name, _kind, _rule in (
    ("backticks", "code_inline", backtick),
    ("html_inline", "html_inline", _html_inline),
    ("entity", "text_special", entity),
    ("image", "image", image),
    ("link", "link_open", link),
):
    _PARSER.inline.ruler.at(_name, _noting(_kind, _rule))


def blocks(text: str) -> tuple[list[Token], Env]:
    """Return the blocks of a text, and what their inline content is parsed with."""
    env: Env = {}
    return _PARSER.parse(text, env), env


def parts(content: str, env: Env) -> list[Token]:
    """Return the inline tokens of a block's content, each with its place in it.

    `meta["span"]` is the place of code, HTML, entities, images and links, from and to;
    `meta["label_end"]` that of the bracket which ends a link's text.
    """
    found: list[Token] = []
    _PARSER.inline.parse(content, _PARSER, env, found)
    return found


class Place:
    """Where the inline content of a block stands in the text."""

    def __init__(self, content: str, marks: Sequence[tuple[int, int]]) -> None:
        self.content = content
        """As it is written: in cells of tables with the strokes escaped."""
        self._marks = marks

    def source(self, at: int) -> int:
        """Return where in the text a place in the content is."""
        mark = max(bisect_right(self._marks, at, key=lambda each: each[0]) - 1, 0)
        inside, outside = self._marks[mark]
        return outside + at - inside

    def columns(self, page: "Page") -> list[int]:
        """Return how far in each line of the content begins."""
        return [outside - page.line_start(outside) for _, outside in self._marks]


class Page:
    """A text, its lines, and the way from a block's content back to them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self._starts = [0, *accumulate(len(line) + 1 for line in self.lines)]

    def start(self, line: int) -> int:
        """Return where a line begins; behind the last, where the text ends."""
        return min(self._starts[line], len(self.text))

    def end(self, line: int) -> int:
        """Return where a line ends, without its newline."""
        return self._starts[line + 1] - 1

    def line_start(self, at: int) -> int:
        """Return where the line begins that a place lies in."""
        return self.text.rfind("\n", 0, at) + 1

    def empty_line(self, line: int) -> int:
        """Return the first empty line from here on, or how many lines there are."""
        rest = range(line, len(self.lines))
        return next((n for n in rest if not self.lines[n].strip()), len(self.lines))

    def paragraph(self, content: str, first: int) -> Place | None:
        """Return the place of a block's content; its lines end as the text's do."""
        marks: list[tuple[int, int]] = []
        at = 0
        for number, line in enumerate(content.split("\n"), first):
            bare = line.lstrip(" \t")
            column = self.lines[number].rfind(bare) if number < len(self.lines) else -1
            if column < 0:
                return None
            marks.append((at + len(line) - len(bare), self.start(number) + column))
            at += len(line) + 1
        return Place(content, marks)

    def cell(self, content: str, at: int, end: int) -> Place | None:
        """Return the place of a table's cell, the first one from `at` to `end`."""
        written = content.replace("|", "\\|")
        start = self.text.find(written, at, end)
        return None if start < 0 else Place(written, [(0, start)])
