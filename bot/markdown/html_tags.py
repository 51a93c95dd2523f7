"""Finds raw HTML in Markdown that can be removed so that only its text is left.

Two parsers read a page: the forge's Markdown and then a browser. If they disagree on
the end of a tag, text can hide in between. So only HTML that all parsers read alike is
*whole*: tags with well-formed attributes, and comments, instructions and declarations
that no parser ends early. Anything else that looks like HTML is broken, and may hide
all the text after it.
https://spec.commonmark.org/0.29/#raw-html, https://spec.commonmark.org/0.31.2/#raw-html
https://html.spec.whatwg.org/multipage/parsing.html#tokenization
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import Final

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
_INLINE: Final = re.compile(rf"{_ELEMENT}|{_OTHERS}|<!--(?!-?>)(?:(?!--)[\s\S])*+-->")
_ODD = r"<[A-Za-z][A-Za-z0-9.+-]*+[@:][^ \t\n\"'<>=]*+>"
"""An address that is read as a tag in an HTML block."""
_BLOCK: Final = re.compile(
    rf"{_ELEMENT}|{_ODD}|{_OTHERS}|<!--(?!-?>)(?:(?!--!?>)[\s\S])*+-->"
)
_ALONE: Final = re.compile(rf"[ ]{{0,3}}(?:{_ELEMENT})[ \t]*")
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


def is_whole(construct: str) -> bool:
    """Whether every parser ends this piece of inline HTML at the same place."""
    found = _INLINE.fullmatch(construct)
    return found is not None and not _is_torn(found)


def stands_alone(line: str) -> bool:
    """Whether a line is a single tag, which can begin an HTML block."""
    return _ALONE.fullmatch(line) is not None


def unshown(construct: str) -> bool:
    """Whether a tag opens an element whose content nobody sees."""
    found = _INLINE.fullmatch(construct)
    return found is not None and _opens(found) in _UNSHOWN


def closes(construct: str, opening: str) -> bool:
    """Whether a tag closes the element that `opening` opens."""
    found, before = _INLINE.fullmatch(construct), _INLINE.fullmatch(opening)
    return found is not None and before is not None and _closes(found) == _opens(before)


def left(construct: str) -> str:
    """Return the replacement of a whole tag: a space for a line break, else nothing."""
    return " " if _BREAK.match(construct) else ""


def hidden(block: str) -> Iterator[tuple[int, int | None, str]]:
    """Give the hidden places of an HTML block: start, end, and replacement.

    The end None means that the block is broken from the start on.
    """
    at = 0
    while opening := _OPENING.search(block, at):
        start = opening.start()
        end = _end(block, start)
        yield start, end, "" if end is None else left(block[start:end])
        if end is None:
            break
        at = end
    for found in _ENTITY.finditer(block):
        decoded = unescape(found[0])
        if not decoded or clean(decoded) != decoded:
            yield found.start(), found.end(), clean(decoded)


def _end(block: str, start: int) -> int | None:
    """Return the end of the HTML at `start` and its unseen content; None: broken."""
    found = _BLOCK.match(block, start)
    if found is None or _is_torn(found):
        return None
    if _opens(found) not in _UNSHOWN:
        return found.end()
    following = _OPENING.search(block, found.end())
    closing = following and _BLOCK.match(block, following.start())
    return closing.end() if closing and _closes(closing) == _opens(found) else None


def _opens(found: re.Match[str]) -> str:
    """Return the name of the element that a tag opens, in lower case."""
    return (found["open"] or "").lower()


def _closes(found: re.Match[str]) -> str:
    """Return the name of the element that a tag closes, in lower case."""
    return (found["close"] or "").lower()


def _is_torn(found: re.Match[str]) -> bool:
    return _opens(found) in _VERBATIM and bool(re.search("[<>]", found[0][1:-1]))
