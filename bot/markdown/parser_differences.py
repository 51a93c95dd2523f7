"""Finds where Markdown parsers disagree, so that text could hide between two.

Forges use older and newer Markdown, with extensions of their own. This module finds
text that only some of them read as a link, a comment or a table; it is left out with
the text that depends on it. Only somebody who hides text for a model needs it.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from bot.markdown.parsed_markdown import blocks
from bot.markdown.text_edits import NOTE, REST, Edit, Span, outside

_DEEPEST: Final = 15
"""The most nested brackets; at 20 markdown-it stops parsing, and the forge does not."""

_OPEN: Final = re.compile(r"<(?:\?|!--|![A-Za-z]|!\[CDATA\[)")
_LINK: Final = re.compile(r"\]\(|!\[")
_TITLE: Final = re.compile(r"\]\([ \t\n]*(?P<address>[^ \t\n]{1,2000})[ \t\n]+[\"'(]")
_REFERENCE: Final = re.compile(
    r"\[(?:[^\[\]\\]|\\.)+\]:[ \t]*\n?[ \t]*(?P<address>[^ \t\n]+)", re.DOTALL
)
_COLUMN: Final = re.compile(
    r"^[ \t]*(?:\|[ \t]*:?-+:?[ \t]*\|?|:?-+:?[ \t]*\|)[ \t]*\n", re.MULTILINE
)
_BOX: Final = re.compile(r"\[[ xX]\][ \t]*[ \t\n][ \t]*(?=\[)")


def doubtful(content: str, taken: Sequence[Span]) -> Iterator[Edit]:
    """Give the edits that leave out doubtful parts of a block's content.

    Args:
        content: the content of a paragraph, heading or cell.
        taken: the places of code, HTML and images, on which all parsers agree.
    """
    for found in _OPEN.finditer(content):  # HTML that does not end
        if outside(found.start(), taken):
            yield Edit(found.start(), len(content), NOTE)
    if any(outside(at, taken) for at in _open_addresses(content)):
        yield Edit(0, len(content), NOTE)
    if _depth(content) > _DEEPEST and (link := _LINK.search(content)):
        yield Edit(link.start(), len(content), NOTE)
    yield from _extensions(content)


def _open_addresses(content: str) -> Iterator[int]:
    """Find addresses with an unclosed bracket, which older Markdown allows."""
    reference = _REFERENCE.match(content)
    for found in (*_TITLE.finditer(content), *([reference] if reference else ())):
        if found["address"].count("(") > found["address"].count(")"):
            yield found.start()


def _extensions(content: str) -> Iterator[Edit]:
    """Find text that only a forge reads as a table or as no part of the paragraph."""
    if (column := _COLUMN.search(content)) is not None:
        yield Edit(column.end(), REST, NOTE)
    if (box := _BOX.match(content)) and blocks(content[box.end() :])[1]:
        yield Edit(box.end(), len(content), NOTE)


def _depth(content: str) -> int:
    """Return how deeply brackets are nested, counting those that never close."""
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]]", content):
        depth = depth + 1 if bracket == "[" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest
