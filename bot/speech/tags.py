"""Raw HTML in Markdown: which of it can be taken out so that just its text is left.

A page goes through two readers, the forge's Markdown and then a browser, and where the
two disagree on the end of a tag, text hides between them. So only what all readers take
alike is *whole*: tags with well-formed attributes, and comments, instructions and
declarations that no reader ends early. Whatever else looks like HTML is broken, and may
hide all that comes after it.
https://spec.commonmark.org/0.29/#raw-html, https://spec.commonmark.org/0.31.2/#raw-html
https://html.spec.whatwg.org/multipage/parsing.html#tokenization
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import Final

from convoy.text.plaintext import clean

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
"""An address, taken for a tag in an HTML block."""
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
"""Between their tags a browser reads no tags; GitHub shows the tags as text instead.
https://github.github.com/gfm/#disallowed-raw-html-extension-"""
_UNSHOWN: Final = frozenset(("rp", "template"))
"""No browser shows what stands between their tags."""


def is_whole(construct: str) -> bool:
    """Whether a piece of inline HTML ends for every reader where this one ends."""
    found = _INLINE.fullmatch(construct)
    return found is not None and not _is_torn(found)


def stands_alone(line: str) -> bool:
    """Whether a line is one tag: it can begin an HTML block."""
    return _ALONE.fullmatch(line) is not None


def unshown(construct: str) -> bool:
    """Whether this opens an element whose content nobody sees."""
    found = _INLINE.fullmatch(construct)
    return found is not None and _opens(found) in _UNSHOWN


def closes(construct: str, opening: str) -> bool:
    """Whether this is the end tag of what `opening` opens."""
    found, before = _INLINE.fullmatch(construct), _INLINE.fullmatch(opening)
    return found is not None and before is not None and _closes(found) == _opens(before)


def left(construct: str) -> str:
    """Return what to put in the place of a whole one: a break parts words."""
    return " " if _BREAK.match(construct) else ""


def hidden(block: str) -> Iterator[tuple[int, int | None, str]]:
    """Say what of an HTML block is not shown: from, to, and what to put there.

    None for `to` means that it is broken from there on.
    """
    at = 0
    while opening := _OPENING.search(block, at):
        start = opening.start()
        end = _end(block, start)
        yield start, end, "" if end is None else left(block[start:end])
        if end is None:
            break
        at = end
    for entity in _ENTITY.finditer(block):
        decoded = unescape(entity[0])
        if not decoded or clean(decoded) != decoded:
            yield entity.start(), entity.end(), clean(decoded)


def _end(block: str, start: int) -> int | None:
    """Return where what begins here ends, with the content that nobody sees."""
    found = _BLOCK.match(block, start)
    if found is None or _is_torn(found):
        return None
    if _opens(found) not in _UNSHOWN:
        return found.end()
    following = _OPENING.search(block, found.end())
    closing = following and _BLOCK.match(block, following.start())
    return closing.end() if closing and _closes(closing) == _opens(found) else None


def _opens(found: re.Match[str]) -> str:
    """Return the name of the element that a tag opens, in small letters."""
    return (found["open"] or "").lower()


def _closes(found: re.Match[str]) -> str:
    """Return the name of the element that a tag closes, in small letters."""
    return (found["close"] or "").lower()


def _is_torn(found: re.Match[str]) -> bool:
    return _opens(found) in _VERBATIM and bool(re.search("[<>]", found[0][1:-1]))
