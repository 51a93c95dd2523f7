"""Parses Markdown and its HTML, with the place of each construct that can hide text.

markdown-it keeps the lines of blocks but no places inside them, so its rules are
wrapped here: they note where they began and ended.

Two parsers read a page: the forge's Markdown and then a browser. If they disagree on
the end of a tag, text can hide in between. So only HTML that all parsers read alike is
*whole*: tags with well-formed attributes, and comments, instructions and declarations
that no parser ends early. Anything else that looks like HTML is broken, and may hide
all the text after it.
https://spec.commonmark.org/0.29/#raw-html, https://spec.commonmark.org/0.31.2/#raw-html
https://html.spec.whatwg.org/multipage/parsing.html#tokenization
"""

import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import unescape
from itertools import accumulate
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from markdown_it import MarkdownIt, rules_inline
from markdown_it.rules_block import StateBlock, html_block, reference
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from convoy.text import clean

OMISSION_NOTE: Final = "(Hidden content was removed here.)"
TEXT_END: Final = sys.maxsize
"""The end of an edit that leaves out all the rest of the text."""

Span = tuple[int, int]
"""Start and end."""


class Edit(NamedTuple):
    start: int
    end: int
    text: str = ""


def outside(at: int, spans: Sequence[Span]) -> bool:
    """Whether a place lies in none of the spans, which are sorted and disjoint."""
    index = bisect_right(spans, at, key=lambda span: span[0]) - 1
    return index < 0 or at >= spans[index][1]


def edited(edits: Iterable[Edit], text: str) -> str:
    """Return the text with all edits made; an edit inside another does nothing."""
    kept: list[str] = []
    at = 0
    for start, end, instead in sorted(edits, key=lambda e: (e.start, -e.end)):
        if start >= at:
            kept += text[at:start], instead
        elif end > at:  # overlaps the previous edit: remove all of both
            kept.append(instead)
        at = max(at, end)
    return "".join([*kept, text[at:]])


_SPACE = r"[ \t\n]"
_ATTRIBUTE = (
    rf"{_SPACE}++[^ \t\n\"'<>/=`]++"
    rf"(?:{_SPACE}*+={_SPACE}*+(?:\"[^\"]*+\"|'[^']*+'|[^ \t\n\"'<>`]++))?+"
)
_ELEMENT = (
    rf"<(?P<open>[A-Za-z][A-Za-z0-9-]*+)(?:{_ATTRIBUTE})*+{_SPACE}*+/?>"
    rf"|</(?P<close>[A-Za-z][A-Za-z0-9-]*+){_SPACE}*+>"
)
_OTHERS = r"<\?[^<>]*+(?<=\?)>|<![A-Za-z][^<>]*+>|<!\[CDATA\[[^<>]*+(?<=\]\])>|<!---?>"
_ODD = r"<[A-Za-z][A-Za-z0-9.+-]*+[@:][^ \t\n\"'<>=]*+>"
"""An address that is read as a tag in an HTML block."""
_HTML: Final = re.compile(
    rf"{_ELEMENT}|{_ODD}|{_OTHERS}|<!--(?!-?>)(?:(?!--!?>)[\s\S])*+-->"
)
LONE_TAG: Final = re.compile(rf"[ ]{{0,3}}(?:{_ELEMENT})[ \t]*")
_OPENING: Final = re.compile(r"<(?=[A-Za-z/!?])")
_BREAK: Final = re.compile(r"<br[ \t\n/>]", re.IGNORECASE)
_ENTITY: Final = re.compile(
    r"&(?:#[0-9]{1,9}|#[xX][0-9a-fA-F]{1,8}|[A-Za-z0-9]{2,31});?"
)

_VERBATIM: Final = frozenset(
    (
        *("iframe", "noembed", "noframes", "noscript", "plaintext"),
        *("script", "style", "textarea", "title", "xmp"),
    )
)
"""Inside these elements a browser reads no tags; GitHub shows the tags as text instead.
https://github.github.com/gfm/#disallowed-raw-html-extension-"""
_UNSHOWN: Final = frozenset(("rp", "template"))
"""No browser shows the content of these elements."""


_SHOWN_IMAGE: Final = re.compile(
    r"""<img\s(?:[^<>]*\s)?src="(https://[\w.~/%-]{1,500})"[^<>]*>""", re.IGNORECASE
)
"""As GitHub writes a picture that was dropped into a text."""


def _left_of_tag(construct: str) -> str:
    """Return what replaces a whole tag: a picture's address, a space for a break."""
    if found := _SHOWN_IMAGE.fullmatch(construct):
        return f"![]({found[1]})"
    return " " if _BREAK.match(construct) else ""


def hidden_tag(text: str, start: int, following: int) -> Edit:
    """Return the edit that removes the HTML at a place, and what nobody sees in it.

    `following` is the place of the next HTML; negative: there is none.
    """
    found = _HTML.match(text, start)
    name = (found["open"] or "").lower() if found else ""
    if name in _UNSHOWN:
        closing = _HTML.match(text, following) if following > start else None
        is_closed = closing and (closing["close"] or "").lower() == name
        found = closing if is_closed else None
    if found is None or (name in _VERBATIM and re.search("[<>]", found[0][1:-1])):
        return Edit(start, TEXT_END, OMISSION_NOTE)
    return Edit(start, found.end(), _left_of_tag(text[start : found.end()]))


def hidden_in_html(block: str, first: int) -> Iterator[Edit]:
    """Give the edits that remove what is hidden in an HTML block that begins there."""
    at = 0
    while opening := _OPENING.search(block, at):
        start = opening.start()
        following = _OPENING.search(block, start + 1)
        after = following.start() if following else -1
        _, at, left = hidden_tag(block, start, after)
        yield Edit(first + start, min(first + at, TEXT_END), left)
    for found in _ENTITY.finditer(block):
        decoded = unescape(found[0])
        if not decoded or clean(decoded) != decoded:
            yield Edit(first + found.start(), first + found.end(), clean(decoded))


Env = dict[str, Any]
"""The data from markdown-it's block rules for its inline rules: link references."""
InlineRule = Callable[[StateInline, bool], bool]

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


_LINKS: Final = ("image", "link_open")


def _may_link(state: StateInline) -> bool:
    """Whether what ends a link follows: else thousands of beginnings are each read."""
    text, at = state.src, state.pos
    if text[at] not in "[!":
        return False
    is_label = text.find("]", at) >= 0
    return is_label and ("references" in state.env or text.find(")", at) >= 0)


def _noting(kind: str, rule: InlineRule) -> InlineRule:
    """Wrap a rule: its token's meta holds where the rule began and ended."""

    # markdown-it passes these two arguments by position.
    def noting(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  see above
        start, count = state.pos, len(state.tokens)
        if kind in _LINKS and not _may_link(state):
            return False
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
    return rules_inline.html_inline(state, silent)


_PARSER: Final = _Markdown("commonmark").enable("table").disable("inline")
_PARSER.block.ruler.at("reference", _reference)
_PARSER.block.ruler.at(
    "html_block", _html_block, {"alt": ["paragraph", "reference", "blockquote"]}
)
for _name, _kind, _rule in (
    ("backticks", "code_inline", rules_inline.backtick),
    ("html_inline", "html_inline", _html_inline),
    ("entity", "text_special", rules_inline.entity),
    ("image", "image", rules_inline.image),
    ("link", "link_open", rules_inline.link),
):
    _PARSER.inline.ruler.at(_name, _noting(_kind, _rule))


def markdown_blocks(text: str) -> tuple[list[Token], Env]:
    """Return the blocks of a text, and the data for parsing their inline content."""
    env: Env = {}
    return _PARSER.parse(text, env), env


def inline_parts(content: str, env: Env) -> list[Token]:
    """Return the inline tokens of a block's content, each with its place there.

    `meta["span"]` is the start and end of code, HTML, entities, images and links;
    `meta["label_end"]` is the place of the bracket that ends a link's text.
    """
    found: list[Token] = []
    _PARSER.inline.parse(content, _PARSER, env, found)
    return found


Marks = list[tuple[int, int]]
"""Where the lines of a block's content begin, in the content and in the text."""


def source(marks: Marks, at: int) -> int:
    """Return the place in the text for a place in a block's content."""
    mark = max(bisect_right(marks, at, key=lambda each: each[0]) - 1, 0)
    inside, outside = marks[mark]
    return outside + at - inside


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

    def marks(self, content: str, first: int) -> Marks:
        """Return the marks of a paragraph, whose lines end as the text's do, or none.

        There are none where the content is not found from the first line on.
        """
        marks: Marks = []
        at = 0
        for number, line in enumerate(content.split("\n"), first):
            bare = line.lstrip(" \t")
            column = self.lines[number].rfind(bare) if number < len(self.lines) else -1
            if column < 0:
                return []
            marks.append((at + len(line) - len(bare), self.start(number) + column))
            at += len(line) + 1
        return marks
