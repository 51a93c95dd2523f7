"""Removes from Markdown the text that readers do not see, and keeps the rest.

Comments, tags with their attributes, alternative texts, titles, link references and
unused footnotes, words behind a fence, cells beyond a table's columns: all of them can
tell a model something that no person reads. Code stays: everybody sees it. Where the
page's content is uncertain, the rest is left out, and a note says so.
"""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

from markdown_it.token import Token

from bot.markdown import html_tags
from bot.markdown.hidden_footnotes import Footnotes
from bot.markdown.hidden_inline import Addresses, hidden, taken
from bot.markdown.parsed_markdown import Page, Place, blocks, parts
from bot.markdown.text_edits import NOTE, REST, Edit, applied

_ROUNDS: Final = 6
_LANGUAGE: Final = re.compile(r"[A-Za-z0-9_+#.-]{0,20}(?![^\s{,])")
_LEAVES: Final = ("fence", "code_block", "html_block", "inline")
# Text that the forge reads as another block before it looks for a table.
_OTHER_BLOCK: Final = re.compile(r"[ \t>*+\d.)-]*(?:<[A-Za-z/!?]|```|~~~)")
_MARKED: Final = re.compile(r"[<&\[]")
_MARKUP: Final = re.compile(r"[<\[&`~|]")
_MARKS: Final = re.compile(r"<|&(?=[#\w])|(?<=\])(?=[\[(:])|!(?=\[)")


def visible(text: str) -> str:
    """Return the visible part of `text`, still as Markdown; safe to do twice.

    Args:
        text: Markdown without unseen characters, its lines ending in newlines only.
    """
    if not _MARKUP.search(text):
        return text
    for _ in range(_ROUNDS):
        before, text = text, applied(_Hidden(text).edits(), text)
        if text == before:
            return text
    # A text that still makes new markup was built to do so.
    text = _MARKS.sub(" ", text)
    while (shorter := applied(_Hidden(text).edits(), text)) != text:
        text = shorter
    return text


class _Hidden:
    """Finds the hidden parts of one text."""

    def __init__(self, text: str) -> None:
        self._page = Page(text)
        self._tokens, self._env = blocks(text)
        self._addresses = Addresses()
        self._footnotes = Footnotes(self._page)
        tables = (t for t in self._tokens if t.type == "table_open")
        self._above = set(chain(*self._definitions(), *map(_lines, tables)))
        """Lines of link references and tables: some parsers read them as paragraphs."""
        self._lazy_end = 0
        """The line up to which lazy HTML has been read."""
        self._row: tuple[int, int] | None = None
        """Inside a table's row: the start and end of its unread rest."""

    def edits(self) -> list[Edit]:
        """Return the edits that remove hidden text, unsorted; they may be nested."""
        found = [*self._of_blocks(), *self._unread()]
        for defined in self._definitions():
            span = self._page.start(defined.start), self._page.start(defined.stop)
            found.append(Edit(*span))
        # Footnotes are at the end of the page: an edit of the rest removes them too.
        is_broken = any(edit.end == REST for edit in found)
        return [*found, *self._footnotes.unshown(all_of_them=is_broken)]

    def _of_blocks(self) -> Iterator[Edit]:
        for token in self._tokens:
            match token.type:
                case "fence":
                    yield self._fence(token)
                case "html_block":
                    yield from self._html(_lines(token))
                case "inline":
                    yield from self._inline(token)
                case "code_block":
                    yield from self._code(_lines(token).start)
                case _:
                    yield from self._of_table(token)

    def _of_table(self, token: Token) -> Iterator[Edit]:
        match token.type:
            case "table_open":
                yield from self._table(_lines(token).start)
            case "tr_open":
                yield from self._row_begins(_lines(token).start)
            case "tr_close":
                yield from self._beyond_columns()
            case _:
                pass

    def _fence(self, token: Token) -> Edit:
        """Keep only the language after a fence."""
        line = _lines(token).start
        start = self._page.text.index(token.markup, self._page.start(line))
        language = _LANGUAGE.match(token.info.strip())
        end = self._page.end(line)
        return Edit(start, end, token.markup + (language[0] if language else ""))

    def _html(self, lines: range) -> Iterator[Edit]:
        first = self._page.start(lines.start)
        block = self._page.text[first : self._page.end(lines.stop - 1)]
        for start, end, instead in html_tags.hidden(block):
            if end is None:
                yield Edit(first + start, REST, NOTE)
            else:
                yield Edit(first + start, first + end, instead)

    def _inline(self, token: Token) -> Iterator[Edit]:
        lines = _lines(token)
        if self._row is None:
            place = self._page.paragraph(token.content, lines.start)
        elif place := self._page.cell(token.content, *self._row):
            self._row = place.source(len(place.content)), self._row[1]
        if place is None:
            yield Edit(self._page.start(lines.start), REST, NOTE)
            return
        if token.level > 1:
            yield from self._lazy_html(place, lines)
        found = parts(place.content, self._env)
        self._footnotes.read(place.content, taken(found), lines.start)
        for start, end, text in hidden(place.content, found, self._addresses):
            stop = end if end == REST else place.source(end)
            yield Edit(place.source(start), stop, text)

    def _lazy_html(self, place: Place, lines: range) -> Iterator[Edit]:
        """Read HTML on lazy continuation lines of a list or quote.

        The forge begins a block there, up to the next empty line.
        """
        columns = place.columns(self._page)
        for number, column in zip(lines, columns, strict=False):
            lazy = column < columns[0] and number >= self._lazy_end
            if lazy and html_tags.stands_alone(self._page.lines[number]):
                self._lazy_end = self._page.empty_line(number)
                yield from self._html(range(number, self._lazy_end))

    def _code(self, line: int) -> Iterator[Edit]:
        """Stop where the forge may read indented code as part of a paragraph."""
        if line - 1 in self._above:
            yield Edit(self._page.start(line), REST, NOTE)

    def _table(self, line: int) -> Iterator[Edit]:
        """Stop where the forge reads a heading instead of a table."""
        if not set(self._page.lines[line + 1]) - set("- \t>"):
            yield Edit(self._page.start(line), REST, NOTE)

    def _row_begins(self, line: int) -> Iterator[Edit]:
        self._row = self._page.start(line), self._page.end(line)
        if _OTHER_BLOCK.match(self._page.lines[line]):
            yield Edit(self._row[0], REST, NOTE)

    def _beyond_columns(self) -> Iterator[Edit]:
        """Remove the cells of a row beyond its table's columns."""
        if self._row and self._page.text[slice(*self._row)].strip(" \t|"):
            yield Edit(*self._row)
        self._row = None

    def _definitions(self) -> Iterator[range]:
        """Give the lines of each link reference: its links spell out the address."""
        for each in (
            *self._env.get("references", {}).values(),
            *self._env.get("duplicate_refs", ()),
        ):
            yield range(*each["map"])

    def _unread(self) -> Iterator[Edit]:
        """Stop where blocks are nested deeper than markdown-it reads."""
        made = [_lines(token) for token in self._tokens if token.type in _LEAVES]
        read = set(chain(*made, *self._definitions()))
        for number, line in enumerate(self._page.lines):
            if number not in read and _MARKED.search(line):
                yield Edit(self._page.start(number), REST, NOTE)
                return


def _lines(token: Token) -> range:
    """Return the numbers of a block's lines."""
    first, end = token.map or (0, 0)
    return range(first, end)
