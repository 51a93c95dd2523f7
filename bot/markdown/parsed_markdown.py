"""Parses Markdown, and notes the place of each construct that can hide text.

markdown-it keeps the lines of blocks but no places inside them, so its rules are
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
"""The data from markdown-it's block rules for its inline rules: link references."""
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
        """Accept every address; addresses are checked when they are written again."""
        return True

    def normalizeLink(self, url: str) -> str:  # noqa: N802  markdown-it's name
        """Return the address, escaped for round brackets."""
        return quote(url, safe=_IN_URLS)


def _noting(kind: str, rule: Rule) -> Rule:
    """Wrap a rule: its token's meta holds where the rule began and ended."""

    # markdown-it passes these two arguments by position.
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
    """Read a link reference; the forge reads `[^` as a footnote."""
    if state.src.startswith("[^", state.bMarks[start] + state.tShift[start]):
        return False
    return reference(state, start, end, silent)


def _html_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001  markdown-it's form of a rule
    """Read an HTML block; the forge begins none with a lower-case declaration."""
    if _SMALL.match(state.src, state.bMarks[start] + state.tShift[start]):
        return False
    return html_block(state, start, end, silent)


def _html_inline(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  markdown-it's form of a rule
    """Read inline HTML, but only older Markdown's comments and declarations."""
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
    """Return the blocks of a text, and the data for parsing their inline content."""
    env: Env = {}
    return _PARSER.parse(text, env), env


def parts(content: str, env: Env) -> list[Token]:
    """Return the inline tokens of a block's content, each with its place there.

    `meta["span"]` is the start and end of code, HTML, entities, images and links;
    `meta["label_end"]` is the place of the bracket that ends a link's text.
    """
    found: list[Token] = []
    _PARSER.inline.parse(content, _PARSER, env, found)
    return found


class Place:
    """The place of a block's inline content in the text."""

    def __init__(self, content: str, marks: Sequence[tuple[int, int]]) -> None:
        self.content = content
        """The content as written: in a table's cells, strokes are escaped."""
        self._marks = marks

    def source(self, at: int) -> int:
        """Return the place in the text for a place in the content."""
        mark = max(bisect_right(self._marks, at, key=lambda each: each[0]) - 1, 0)
        inside, outside = self._marks[mark]
        return outside + at - inside

    def columns(self, page: "Page") -> list[int]:
        """Return the column in which each line of the content begins."""
        return [outside - page.line_start(outside) for _, outside in self._marks]


class Page:
    """A text and its lines; finds the place of a block's content in them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self._starts = [0, *accumulate(len(line) + 1 for line in self.lines)]

    def start(self, line: int) -> int:
        """Return where a line begins; after the last line, where the text ends."""
        return min(self._starts[line], len(self.text))

    def end(self, line: int) -> int:
        """Return where a line ends, without its newline."""
        return self._starts[line + 1] - 1

    def line_start(self, at: int) -> int:
        """Return where the line with the given place begins."""
        return self.text.rfind("\n", 0, at) + 1

    def empty_line(self, line: int) -> int:
        """Return the first empty line from `line` on, or the number of lines."""
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
        """Return the place of a table's cell: the first match from `at` to `end`."""
        written = content.replace("|", "\\|")
        start = self.text.find(written, at, end)
        return None if start < 0 else Place(written, [(0, start)])
