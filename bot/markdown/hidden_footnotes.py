"""Removes footnotes that the page does not show.

The forge leaves out footnotes that no text refers to, and reads indented lines below a
footnote as Markdown of their own; only a footnote's plain lines stay here.
https://docs.github.com/en/get-started/writing-on-github (footnotes)
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from bot.markdown.parsed_markdown import Page
from bot.markdown.text_edits import Edit, Span, outside

_LABEL: Final = re.compile(r"(?<!\\)\[\^([^\]\s]{1,1000})\]")
_DEFINES: Final = re.compile(
    r"^ {0,3}(?:\[[ xX]\][ \t]+)?\[\^([^\]\s]+)\]:(?P<plain>[ \t]*[^\W\d_])?",
    re.MULTILINE,
)
_BLANK: Final = re.compile(r"[ \t>]*$")
_INDENTED: Final = re.compile(r" {4}|[ ]{0,3}\t")


class Footnotes:
    """The footnotes of one text; `read` takes each of its paragraphs in order."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._defined: dict[int, str] = {}
        """Labels by line; the label of a footnote that is no plain text is empty."""
        self._referred: set[str] = set()

    def read(self, content: str, code: Sequence[Span], first_line: int) -> None:
        """Look for footnotes, and above them for references to footnotes."""
        end = len(content)
        for found in reversed(list(_DEFINES.finditer(content))):
            end = found.start()
            line = first_line + content.count("\n", 0, end)
            self._defined[line] = found[1].casefold() if found["plain"] else ""
        self._referred |= {
            found[1].casefold()
            for found in _LABEL.finditer(content, 0, end)
            if outside(found.start(), code)
        }

    def unshown(self, *, all_of_them: bool) -> Iterator[Edit]:
        """Give the edits that remove unseen footnotes, and unseen parts of others."""
        wanted = set() if all_of_them else set(self._referred)
        for start, label in sorted(self._defined.items()):
            plain, end = self._extent(start)
            if label not in wanted:
                plain = start
            wanted.discard(label)  # the forge shows a label's first footnote
            yield Edit(self._page.start(plain), self._page.start(end))

    def _extent(self, start: int) -> tuple[int, int]:
        """Return the lines where a footnote's plain text ends, and where all of it."""
        lines = self._page.lines
        plain = self._first(start + 1, _BLANK, _INDENTED)
        end = self._first(start + 1, _BLANK)
        while end < len(lines) and end not in self._defined:
            below = end
            while below < len(lines) and _BLANK.match(lines[below]):
                below += 1
            if below < len(lines) and not _INDENTED.match(lines[below]):
                break
            end = self._first(below, _BLANK)
        return min(plain, end), end

    def _first(self, line: int, *kinds: re.Pattern[str]) -> int:
        """Return the first line from `line` on that matches a kind or is a footnote."""
        lines = self._page.lines
        while line < len(lines) and line not in self._defined:
            if any(kind.match(lines[line]) for kind in kinds):
                break
            line += 1
        return line
