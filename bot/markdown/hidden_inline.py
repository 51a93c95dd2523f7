"""Finds text that is hidden inside one paragraph, heading or cell."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from markdown_it.token import Token

from bot.markdown import html_tags
from bot.markdown.parser_differences import doubtful
from bot.markdown.text_edits import NOTE, REST, Edit, Span
from convoy.text import clean

_UNWANTED: Final = re.compile(r"(?:data|javascript|vbscript):", re.IGNORECASE)


class Addresses:
    """The addresses of link references: the first link to use one spells it out.

    This way no text grows by repeating a long address.
    """

    def __init__(self) -> None:
        self._spelled: set[str] = set()

    def once(self, address: str) -> str | None:
        """Return the address the first time, and None later."""
        if address in self._spelled:
            return None
        self._spelled.add(address)
        return address


def taken(tokens: Sequence[Token]) -> list[Span]:
    """Return the places of code, HTML and images."""
    kinds = ("code_inline", "html_inline", "image")
    return [token.meta["span"] for token in tokens if token.type in kinds]


def hidden(
    content: str, tokens: Sequence[Token], addresses: Addresses
) -> Iterator[Edit]:
    """Give the edits that remove hidden text, in any order, by places in the content.

    Args:
        content: the parsed content.
        tokens: the content's parts, with their places.
        addresses: the addresses of the whole text.
    """
    for index, token in enumerate(tokens):
        if "span" not in token.meta:
            continue
        start, end = token.meta["span"]
        match token.type:
            case "html_inline":
                yield _html(tokens, index)
            case "text_special" if not clean(token.content):
                yield Edit(start, end)
            case "image":
                yield Edit(start, end, f"![]({_image(content, token, addresses)})")
            case "link_open" if tokens[index + 1].type == "link_close":
                yield Edit(start, end)
            case "link_open":
                yield from _link(content, token, addresses)
            case _:
                pass
    yield from doubtful(content, taken(tokens))


def _html(tokens: Sequence[Token], index: int) -> Edit:
    token = tokens[index]
    start, end = token.meta["span"]
    if not html_tags.is_whole(token.content):
        return Edit(start, REST, NOTE)
    if not html_tags.unshown(token.content):
        return Edit(start, end, html_tags.left(token.content))
    for other in tokens[index + 1 :]:
        if other.type == "html_inline":
            if html_tags.closes(other.content, token.content):
                return Edit(start, other.meta["span"][1])
            break
    return Edit(start, REST, NOTE)


def _image(content: str, token: Token, addresses: Addresses) -> str:
    """Return the image's address; empty: it is not kept."""
    address = _wanted(str(token.attrs["src"]))
    start, end = token.meta["span"]
    inline = content[start:end].endswith(")")
    return address if inline else addresses.once(address) or ""


def _link(content: str, token: Token, addresses: Addresses) -> Iterator[Edit]:
    """Write a link's address without title and label; most links stay unchanged."""
    bracket, (_, end) = token.meta["label_end"], token.meta["span"]
    address = _wanted(str(token.attrs["href"]))
    if not content.startswith("](", bracket, end):
        spelled = addresses.once(address)
        yield Edit(bracket, end, "]" if spelled is None else f"]({spelled})")
    elif "title" in token.attrs or not address:
        yield Edit(bracket, end, f"]({address})")


def _wanted(address: str) -> str:
    return "" if _UNWANTED.match(address) else address
