"""Text from outside as readers see it: cleaned for a model, or shown as code.

`convoy.text.clean` removes characters that no screen shows: enough for one
line of a table, and for the planner. `clean_markdown` here also removes text that a
*page* does not show, so that a model reads no more than people do. Comments, tags with
their attributes, alternative texts, titles, link references and unused footnotes, words
behind a fence, cells beyond a table's columns: all of them can tell a model something
that no person reads. Code stays: everybody sees it.

Nothing is cut out: the text is parsed as the forge parses it, and what is visible is
written anew. Text is escaped, so that every parser reads it as text. Where it is
uncertain what the page shows, the rest is left out, and a note says so. A text of
65,000 characters built to be slow takes some seconds: async callers use a thread.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final
from unicodedata import normalize

from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from bot.text.parsed_markdown import (
    hides_more,
    html_parts,
    inline_parts,
    markdown_blocks,
    whole_tag,
)
from convoy import text as plaintext
from convoy.log import broken_up
from convoy.text import clean, cut

WORD_CHARS = 60


def code_span(text: str, limit: int = WORD_CHARS) -> str:
    """Return `text` as one line of inline code, at most `limit` characters and a pair.

    A forge finds no mention, number, tag or link in code. Back quotes become straight
    ones, so that nothing ends the code early.
    """
    line = " ".join(clean(text).replace("`", "'").split())
    return f"`{cut(broken_up(line), limit) or ' '}`"


def code_block(text: str) -> str:
    """Return `text` as a fenced block that nothing in it ends."""
    return plaintext.code_block(broken_up(clean(text)).strip("\n"))


OMISSION_NOTE: Final = "(Hidden content was removed here.)"

_MARKUP: Final = re.compile(r"[<\[&`~|]")
_MARKS: Final = re.compile(r"[\s\\`*_~#>|:=+-]+")
"""What may be written in another way; nothing is said with these characters alone."""


def visible(text: str) -> str:
    """Return the visible part of `text`, still as Markdown; safe to do twice.

    It has no unseen characters, and its lines end in newlines only. A text that hides
    nothing stays as it is written.
    """
    if not _MARKUP.search(text):
        return text
    shown = _Page(text).written()
    return text if _MARKS.sub("", shown) == _MARKS.sub("", text) else shown


_UNSHOWN: Final = frozenset(("rp", "template"))
"""No browser shows the content of these elements."""
_SHOWN_IMAGE: Final = re.compile(
    r"""<img\s(?:[^<>]*\s)?src="(https://[\w.~/%-]{1,500})"[^<>]*>""", re.IGNORECASE
)
"""As GitHub writes a picture that was dropped into a text."""
_LANGUAGE: Final = re.compile(r"[A-Za-z0-9_+#.-]{0,20}(?![^\s{,])")
_UNWANTED: Final = re.compile(r"(?:data|javascript|vbscript):", re.IGNORECASE)
_DEEP: Final = 18
"""The level of a list or quote in which markdown-it may have left out blocks."""

_PAIRS: Final = ("``", "![", "](", "]:")
"""What means something else when it comes together."""

_Piece = tuple[bool, str]
"""Whether it is Markdown, which is written as it is; and the text."""


class _Page:
    def __init__(self, text: str) -> None:
        tokens, self._env = markdown_blocks(text)
        self._blocks = SyntaxTreeNode(tokens).children
        tables = (token.map for token in tokens if token.type == "table_open")
        self._ends = {end for _, end in filter(None, tables)}
        self._ends |= self._env.get("below_references", set())
        """The lines below link references and tables."""
        self._spelled: set[str] = set()
        self._footnotes: dict[str, str] = {}
        self._referred: dict[str, None] = {}
        self._unshown = ""
        """The element in which nothing is shown."""
        self._is_over = False
        """Whether all the rest of the text is left out."""

    def written(self) -> str:
        text = self._all(self._blocks)
        # They are at the end of the page: what is over has none.
        known = {} if self._is_over else self._footnotes
        notes = (known[label] for label in self._referred if label in known)
        return "\n\n".join(filter(None, (text, *notes)))

    def _all(self, blocks: Sequence[SyntaxTreeNode]) -> str:
        parts = (part for block in blocks for part in (block, *block.children))
        is_tight = any(part.type == "paragraph" and part.hidden for part in parts)
        written: list[str] = []
        for block in blocks:
            if self._is_over:
                break
            part = self._block(block)
            if part and written:
                near = is_tight and block.type != "html_block"
                written.append("\n" if near else "\n\n")
            written.append(part)
        return "".join(written)

    def _block(self, block: SyntaxTreeNode) -> str:
        match block.type:
            case "paragraph":
                return _lines(self._inline(block))
            case "heading":
                text = self._inline(block).replace("\n", " ")
                return f"{'#' * int(block.tag[1])} {text}"
            case "code_block" if block.map and block.map[0] in self._ends:
                # The forge may read indented code as part of a paragraph.
                self._is_over = True
                return OMISSION_NOTE
            case "code_block" | "fence":
                language = _LANGUAGE.match(block.info.strip())
                code = plaintext.code_block(block.content.removesuffix("\n"))
                return code.replace("\n", f"{language[0] if language else ''}\n", 1)
            case "html_block":
                return _lines(self._joined([*html_parts(block.content)]))
            case "hr":
                return "___"  # no list's mark
            case "bullet_list" | "ordered_list":
                return self._all(block.children)
            case "list_item":
                mark = f"{block.info}{block.markup} "
                return f"{mark}{self._inside(block, ' ' * len(mark)).lstrip()}"
            case "blockquote":
                return self._inside(block, "> ")
            case "table":
                return self._table(block)
            case "footnote":
                self._footnote(block)
            case _:  # a link reference
                pass
        return ""

    def _inside(self, block: SyntaxTreeNode, by: str) -> str:
        """Write what is in a list or quote, each line of it indented."""
        is_deep = not block.children and block.level >= _DEEP
        text = OMISSION_NOTE if is_deep else self._all(block.children)
        lines = text.split("\n") if text else ()
        return "\n".join(f"{by}{line}" if line else by.rstrip() for line in lines)

    def _table(self, block: SyntaxTreeNode) -> str:
        head, *body = (row for part in block.children for row in part.children)
        written = [self._row(head), f"|{' --- |' * len(head.children)}"]
        written += (self._row(row) for row in body if not self._is_over)
        return "\n".join(written)

    def _row(self, row: SyntaxTreeNode) -> str:
        cells = (self._inline(cell).replace("|", r"\|") for cell in row.children)
        return f"| {' | '.join(cells)} |"

    def _footnote(self, block: SyntaxTreeNode) -> None:
        """Keep a footnote; the forge shows a label's first one, if the text refers."""
        label = block.info.casefold()
        referred, self._referred = self._referred, {}
        # Below its first paragraph, the forge reads Markdown of its own.
        first = [part for part in block.children[:1] if part.type == "paragraph"]
        text = self._all(first)
        self._referred = referred
        self._footnotes.setdefault(label, text and f"[^{block.info}]: {text}")

    def _inline(self, block: SyntaxTreeNode) -> str:
        if self._is_over:
            return ""
        content = block.children[0].content
        tokens, rest = inline_parts(content, self._env)
        text = self._joined(tokens)
        if not rest or self._is_over:
            return text
        self._is_over = hides_more(rest)
        return f"{text}{OMISSION_NOTE}"

    def _joined(self, tokens: list[Token]) -> str:
        """Write inline tokens, with all text escaped."""
        pieces = [*self._pieces(SyntaxTreeNode(tokens).children)]
        if self._unshown:  # it does not end here
            self._unshown, self._is_over = "", True
            pieces.append((False, OMISSION_NOTE))
        written = [""]
        for is_markdown, run in groupby(pieces, key=itemgetter(0)):
            texts = [text for _, text in run]
            for text in texts if is_markdown else (_as_text("".join(texts)),):
                if written[-1][-1:] + text[:1] in _PAIRS:
                    written.append(" ")
                written.append(text)
        return "".join(written)

    def _pieces(self, nodes: Sequence[SyntaxTreeNode]) -> Iterator[_Piece]:
        for node in nodes:
            if self._is_over:
                break
            if node.type == "html_inline":
                yield self._html(node.content)
            elif node.type == "link":
                yield from self._link(node)
            elif not self._unshown:
                yield self._piece(node)

    def _piece(self, node: SyntaxTreeNode) -> _Piece:
        match node.type:
            case "text_special" if node.info == "escape":
                return True, node.markup
            case "code_inline":
                code, mark = node.content, node.markup
                edges = code[:1] + code[-1:]
                pad = " " if "`" in edges or (edges == "  " and code.strip()) else ""
                return True, f"{mark}{pad}{code}{pad}{mark}"
            case "softbreak" | "hardbreak":
                return True, "\n"
            case "image":
                return True, f"![]({self._address(node, 'src') or ''})"
            case "footnote_reference":
                self._referred[node.info.casefold()] = None
                return True, node.content
            case _:
                return False, node.content

    def _html(self, html: str) -> _Piece:
        name = whole_tag(html)
        if name is None or (self._unshown and name != f"/{self._unshown}"):
            self._unshown, self._is_over = "", True
            return False, OMISSION_NOTE
        self._unshown = name if name in _UNSHOWN else ""
        if found := _SHOWN_IMAGE.fullmatch(html):
            return True, f"![]({found[1]})"
        return False, " " if name == "br" else ""

    def _link(self, node: SyntaxTreeNode) -> Iterator[_Piece]:
        """Write a link without its title; what nobody sees is no link."""
        pieces = [*self._pieces(node.children)]
        if not any(text.strip() for _, text in pieces):
            return
        if node.info == "auto":
            yield True, f"<{node.children[0].content}>"
            return
        address = self._address(node, "href")
        yield address is not None, "["
        yield from pieces
        yield (False, "]") if address is None else (True, f"]({address})")

    def _address(self, node: SyntaxTreeNode, name: str) -> str | None:
        """Return an address, empty where it is unwanted; None: it was spelled out.

        Of the addresses of link references, the first link to use one spells it out: no
        text grows by repeating a long address.
        """
        address = str(node.attrs[name])
        address = "" if _UNWANTED.match(address) else address
        if "label" in node.meta:
            if address in self._spelled:
                return None
            self._spelled.add(address)
        return address


_SPECIAL: Final = re.compile(
    r"`|\\(?=[!-/:-@\[-`{-~]|\n|\Z)|<(?=[A-Za-z/!?])|\](?=[(:])|&(?=#?\w{1,32};)"
)
"""What is markup inside a line, or can become it with what follows."""
_BEGINNING: Final = re.compile(
    r"^(?=[-+*](?:[ \t]|$)|#{1,6}(?:[ \t]|$)|>|~~~|[-=*_|:][-=*_|: \t]*$)"
    r"|^[0-9]{1,9}(?=[.)](?:[ \t]|$))|^(?:\[[ xX]\][ \t]+)?(?=\[\^[^\]\s]+\]:)",
    re.MULTILINE,
)
"""What is markup at the beginning of a line of text."""


def _as_text(text: str) -> str:
    seen = normalize("NFC", clean(text))
    return _SPECIAL.sub(r"\\\g<0>", _DATA_URL.sub("data:\u2026", seen))


def _lines(text: str) -> str:
    """Return the lines of a paragraph, none of which begins another block."""
    lines = (line.strip(" \t") for line in text.split("\n"))
    return _BEGINNING.sub(r"\g<0>\\", "\n".join(filter(None, lines)))


CUT_NOTE: Final = "\n\n(The text was too long and has been cut here.)"

_DATA_URL: Final = re.compile(
    r"\bdata:(?=[\w.+-]+/|;)[^\s,]{1,100},[^\s)\"'<>`]*", re.IGNORECASE
)


def clean_markdown(text: str, *, limit: int) -> str:
    """Return the visible part of a Markdown text; safe to do twice.

    Code stays as it is written. Removed: unseen characters, comments, tags and their
    attributes, alternative texts, titles, labels, and the data in `data:` addresses.

    Above `limit` characters it ends at the end of a line, and a note says so where
    there is room for one.
    """
    shown = _seen(text)
    if len(shown) <= limit and len(text) <= plaintext.TEXT_CHARS:
        return shown
    note = CUT_NOTE if len(CUT_NOTE) <= limit else ""
    room = limit - len(note)
    while room > 0:
        lines = shown[: room + 1].rpartition("\n")[0].rstrip()
        whole = _seen((lines or shown[:room]) + note)
        if len(whole) <= limit:
            return whole
        room -= len(whole) - limit  # a cut can open what was closed: a note says so
    return note


def _seen(text: str) -> str:
    given = _DATA_URL.sub("data:\u2026", normalize("NFC", plaintext.clean(text)))
    return broken_up(normalize("NFC", visible(broken_up(given))))
