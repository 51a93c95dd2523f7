"""Parses Markdown as the forge does, and finds where parsers do not agree.

Two parsers read a page: the forge's Markdown and then a browser. If they disagree on
the end of a tag, text can hide in between. So only HTML that all parsers read alike is
*whole*: tags with well-formed attributes, and comments, instructions and declarations
that no parser ends early. Anything else that looks like HTML may hide all the text
after it.
https://spec.commonmark.org/0.29/#raw-html, https://spec.commonmark.org/0.31.2/#raw-html
https://html.spec.whatwg.org/multipage/parsing.html#tokenization
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any, Final
from urllib.parse import quote

from markdown_it import MarkdownIt, rules_inline
from markdown_it.rules_block import StateBlock, html_block, reference, table
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from convoy.text import clean

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
_LONE_TAG: Final = re.compile(rf"(?:{_ELEMENT})[ \t]*")
_OPENING: Final = re.compile(r"<(?=[A-Za-z/!?])")
_VERBATIM: Final = frozenset(
    (
        *("iframe", "noembed", "noframes", "noscript", "plaintext"),
        *("script", "style", "title", "xmp"),
    )
)
"""Inside these elements a browser reads no tags; GitHub shows the tags as text instead.
https://github.github.com/gfm/#disallowed-raw-html-extension-"""


def whole_tag(html: str) -> str | None:
    """Return a tag's name in lower case, with a slash if it closes.

    The name of other whole HTML is empty; None: not all parsers end it here. So it is
    with `textarea`, in which newer Markdown reads no blocks.
    """
    found = _HTML.fullmatch(html)
    if found is None:
        return None
    name = (found["open"] or found["close"] or "").lower()
    if name == "textarea" or (name in _VERBATIM and re.search("[<>]", html[1:-1])):
        return None
    return f"/{name}" if found["close"] else name


def html_parts(block: str) -> Iterator[Token]:
    """Split an HTML block into its HTML and its text; HTML that is open ends it."""
    at = 0
    while opening := _OPENING.search(block, at):
        start = opening.start()
        yield Token("text", "", 0, content=unescape(block[at:start]))
        found = _HTML.match(block, start)
        at = found.end() if found else len(block)
        yield Token("html_inline", "", 0, content=block[start:at])
    yield Token("text", "", 0, content=unescape(block[at:]))


_RISKY: Final = re.compile(
    r"(\([^\s()<>\\`&]*\))|[\s()<>\\`]|&(?=#?[A-Za-z0-9]{1,32};)"
)


class _Markdown(MarkdownIt):
    """CommonMark with tables, in which any address is a link, as on the forge."""

    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802  markdown-it's
        """Accept every address; addresses are checked when they are written again."""
        return True

    def normalizeLink(self, url: str) -> str:  # noqa: N802  markdown-it's name
        """Return the address as it can stand in round brackets."""
        return _RISKY.sub(lambda found: found[1] or quote(found[0]), clean(url))

    def normalizeLinkText(self, link: str) -> str:  # noqa: N802  markdown-it's name
        """Return the address as the forge shows it: as it is written."""
        return link


_COLUMNS: Final = re.compile(r"\n[ \t>]*+(?=.*[|:])[-|: \t]++(?=\n)")


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001  markdown-it's form of a rule
    """Read a table; the forge looks for a heading and for all other blocks first.

    Of a paragraph, it reads only the first line that could be the one below a head.
    """
    if not table(state, start, end, True):  # noqa: FBT003  as above
        return False
    if start == state.line:  # markdown-it's headings leave "paragraph" there
        state.parentType = "root"
    head, line = state.bMarks[start], start + 1
    below = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
    above = _COLUMNS.search(state.src, state.bMarks[state.line], head)
    others = state.md.block.ruler.getRules("blockquote")
    if (
        (state.parentType == "paragraph" and above)
        or not set(below) - set("- \t")
        or any(rule(state, start, end, True) for rule in others)  # noqa: FBT003  as above
    ):
        return False
    return table(state, start, end, silent)


_NOTE: Final = re.compile(r"\[\^([^\]\\\s]{1,1000})\]")
_DEFINED_NOTE: Final = re.compile(r"\[\^([^\]\s]+)\]:[ \t]*")
_NOTE_INDENT: Final = 4


def _footnote(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001  markdown-it's form of a rule
    """Read a footnote with the indented blocks below it.

    https://docs.github.com/en/get-started/writing-on-github (footnotes)
    """
    at = state.bMarks[start] + state.tShift[start]
    found = _DEFINED_NOTE.match(state.src, at, state.eMarks[start])
    if found is None or state.is_code_block(start):
        return False
    if silent:
        return True
    line = state.bMarks[start], state.tShift[start], state.sCount[start]
    around = state.blkIndent, state.parentType
    state.push("footnote_open", "", 1).info = found[1]
    state.blkIndent += _NOTE_INDENT
    state.parentType = "footnote"
    state.bMarks[start], state.tShift[start] = found.end(), 0
    state.sCount[start] = state.blkIndent
    state.md.block.tokenize(state, start, end)
    state.push("footnote_close", "", -1)
    state.bMarks[start], state.tShift[start], state.sCount[start] = line
    state.blkIndent, state.parentType = around
    return True


def _reference(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001  markdown-it's form of a rule
    is_one = reference(state, start, end, silent)
    if is_one:
        state.env.setdefault("below_references", set()).add(state.line)
    return is_one


_OVER_TEXT: Final = ["paragraph", "reference"]
_SMALL: Final = re.compile(r"<![a-z]")


def _html_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001  markdown-it's form of a rule
    """Read an HTML block as the forge does.

    It begins none with a lower-case declaration. A lone tag begins one wherever no
    paragraph is continued: on its lazy lines it is not, below a link reference it is.
    """
    line = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    if _SMALL.match(line):
        return False
    is_lazy = state.sCount[start] < state.blkIndent
    is_free = is_lazy or state.parentType not in _OVER_TEXT
    if silent and is_free and _LONE_TAG.fullmatch(line):
        return not state.is_code_block(start)
    is_below = start in state.env.get("below_references", ())
    if is_below and not html_block(state, start, end, True):  # noqa: FBT003  as above
        return False
    return html_block(state, start, end, silent)


# https://github.github.com/gfm/#html-comment and what follows there
_OLD: Final = re.compile(
    r"<!--(?!-?>)(?:(?!--)[\s\S])*+-->|<![A-Z]+\s|<!\[CDATA\[", re.ASCII
)
_OPEN_HTML: Final = re.compile(r"<(?:\?|!--|![A-Za-z]|!\[CDATA\[)")


def _html_inline(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  markdown-it's form of a rule
    """Read inline HTML, but only older Markdown's comments and declarations.

    Where others begin, `open_html` takes all the rest. It is looked for inside links
    and images, too, but ends none.
    """
    newer = state.src.startswith("<!", state.pos)
    is_alike = not newer or _OLD.match(state.src, state.pos)
    if is_alike and rules_inline.html_inline(state, silent):
        return True
    if silent or not _OPEN_HTML.match(state.src, state.pos):
        return False
    state.push("open_html", "", 0).content = state.src[state.pos :]
    state.pos = state.posMax
    return True


_ADDRESS: Final = re.compile(r"\]\(\s*+(\S{1,2000}+)\s++[\"'(]")


def _open_address(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  markdown-it's form of a rule
    """Find an address with an unclosed bracket, which older Markdown allows."""
    found = _ADDRESS.match(state.src, state.pos)
    if found is None or not _nested(found[1], "(", ")")[1]:
        return False
    if not silent:
        state.push("open_address", "", 0)
    state.pos = state.posMax
    return True


def _note_reference(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  markdown-it's form of a rule
    found = _NOTE.match(state.src, state.pos)
    if found is None or silent:  # inside a link, it keeps nothing from being one
        return False
    token = state.push("footnote_reference", "", 0)
    token.content, token.info = found[0], found[1]
    state.pos = found.end()
    return True


def _open_bracket(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  markdown-it's form of a rule
    """Take what no bracket ends as text: else each beginning reads all the rest."""
    text, at = state.src, state.pos
    if text[at] not in "[!":
        return False
    may_end = "references" in state.env or text.find(")", at) >= 0
    if may_end and text.find("]", at) >= 0:
        return False
    if not _note_reference(state, silent):
        if not silent:
            state.append_pending(text[at])
        state.pos += 1
    return True


_PARSER: Final = _Markdown("commonmark", {"store_labels": True})
_PARSER.enable("table").disable(["inline", "emphasis"])
_block, _inline = _PARSER.block.ruler, _PARSER.inline.ruler
_block.at("table", _table, {"alt": _OVER_TEXT})
_block.at("reference", _reference)
_block.at("html_block", _html_block, {"alt": [*_OVER_TEXT, "blockquote"]})
_block.before("reference", "footnote", _footnote, {"alt": [*_OVER_TEXT, "blockquote"]})
_inline.before("link", "open_bracket", _open_bracket)
_inline.at("html_inline", _html_inline)
_inline.after("image", "footnote_reference", _note_reference)
_inline.push("open_address", _open_address)

Env = dict[str, Any]
"""The data of the block rules: link references, and the lines below them."""


def markdown_blocks(text: str) -> tuple[list[Token], Env]:
    """Return the blocks of a text, and the data for parsing their inline content."""
    env: Env = {}
    return _PARSER.parse(text, env), env


def inline_parts(content: str, env: Env) -> tuple[list[Token], str]:
    """Return the inline tokens of a block's content, and the rest of the content.

    Emphasis is part of the text. Not all parsers read the rest alike.
    """
    end = _alike_until(content)
    found = _PARSER.inline.parse(content[:end], _PARSER, env, [])
    kinds = [token.type for token in found]
    kinds += (part.type for token in found for part in token.children or ())
    if "open_html" in kinds[:-1] or "open_address" in kinds:
        return [], content
    last = found.pop().content if "open_html" in kinds else ""
    return found, f"{last}{content[end:]}"


_DEEPEST: Final = 15
"""The most nested brackets; at 20 markdown-it stops parsing, and the forge does not."""
_LINK: Final = re.compile(r"\]\(|!\[")
_REFERENCE: Final = re.compile(r"\[(?:[^\[\]\\]|\\.)+\]:\s*+(\S++)", re.DOTALL)
_ESCAPED_END: Final = re.compile(
    r"(?:\]\(|\A\[(?:[^\[\]\\]|\\.)+\]:)\s*+\S{1,2000}+\s++"
    r"([\"'])(?:\\.|(?!\1)[^\\]){0,2000}?\\\1[ \t\n]*(?:\)|$)",
    re.DOTALL | re.MULTILINE,
)
"""A title whose last quote is escaped: the forge ends it there, if nowhere else."""
_BOX: Final = re.compile(r"\[[ xX]\](?=[ \t\n])[ \t]*+\n?+[ \t]*+(?=\[)")
_COLUMN: Final = re.compile(
    r"^.*\n[ \t]*+(?=.*[|:])\|?+[ \t]*+:?+-++:?+[ \t]*+\|?+[ \t]*+$", re.MULTILINE
)


def _alike_until(content: str) -> int:
    """Return where parsers begin to read a block's content differently, or its end."""
    reference = _REFERENCE.match(content)
    if (
        (reference and _nested(reference[1], "(", ")")[1])
        or _ESCAPED_END.search(content)
        or (_nested(content, "[", "]")[0] > _DEEPEST and _LINK.search(content))
        or _COLUMN.search(content)  # what only the forge reads as a table
    ):
        return 0
    if (box := _BOX.match(content)) and _is_no_text(content[box.end() :]):
        return box.end()  # what the forge reads as no part of the paragraph
    return len(content)


def hides_more(rest: str) -> bool:
    """Whether parsers may differ in all that is below what they read differently."""
    return bool(_OPENING.search(rest, 1) or _COLUMN.search(rest))


def _is_no_text(text: str) -> bool:
    tokens, env = markdown_blocks(text)
    return bool(env) or tokens[0].type != "paragraph_open"


def _nested(text: str, opening: str, closing: str) -> tuple[int, int]:
    """Return how deeply brackets are nested, and how many of them never close."""
    depth = deepest = 0
    for bracket in re.findall(f"[{re.escape(opening + closing)}]", text):
        depth = depth + 1 if bracket == opening else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest, depth
