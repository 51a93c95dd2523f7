"""The requirements of an issue's text, as far as form alone shows them. Pure.

A list item is one, and so is a sentence that stands outside of code, quotes, tables and
headings. Nothing is understood here: a sentence may be background.
"""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final, Literal

from convoy.text.plaintext import clean

_Kind = Literal["prose", "item", "met"]

MOST: Final = 200
"""So many requirements of one issue are looked at."""
FEWEST_WORDS: Final = 3
"""A sentence with fewer words asks for nothing that could be found again."""
_FENCE: Final = re.compile(r" {0,3}(```|~~~)")
_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[(?P<box>[ xX])\]\s+)?")
_NO_PROSE: Final = re.compile(r"\s*(?:#{1,6}(?:\s|$)|>|\||<|={3,}|-{3,}|\*{3,})")
_ENDS: Final = re.compile(r"(?<=[.!?])\s+(?=[^\s\d])|(?<=[\u3002\uff01\uff1f])\s*")
_HIDDEN: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def requirements(text: str) -> tuple[str, ...]:
    """Return the items and sentences of an issue's text; ticked items are met.

    Args:
        text: the issue's, Markdown from anybody.
    """
    found = chain.from_iterable(_blocks(_HIDDEN.sub("", clean(text))))
    return tuple(dict.fromkeys(found))[:MOST]


def _blocks(text: str) -> Iterator[Iterator[str]]:
    """Give what each item and each paragraph asks for."""
    kind: _Kind = "prose"
    lines: list[str] = []
    in_code = False
    for line in text.split("\n"):
        item = _ITEM.match(line)
        is_fence = bool(_FENCE.match(line))
        is_open = line.strip() and not (is_fence or in_code or _NO_PROSE.match(line))
        in_code ^= is_fence
        if is_open and not item:
            lines.append(line)
            continue
        yield _said(kind, lines)
        kind, lines = "prose", []
        if is_open and item:
            kind = "met" if (item["box"] or " ") != " " else "item"
            lines = [line[item.end() :]]
    yield _said(kind, lines)


def _said(kind: _Kind, lines: list[str]) -> Iterator[str]:
    text = " ".join(" ".join(lines).split())
    if kind == "item" and text:
        yield text
    if kind == "prose":
        for sentence in _ENDS.split(text):
            if len(sentence.split()) >= FEWEST_WORDS or not sentence.isascii():
                yield from filter(None, (sentence.strip(),))
