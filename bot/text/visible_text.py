"""Text from outside as readers see it: cleaned for a model, or shown as code.

`convoy.text.plaintext.clean` removes characters that no screen shows: enough for one
line of a table, and for the planner. `clean_markdown` here also removes text that a
*page* does not show, so that a model reads no more than people do. Comments, tags with
their attributes, alternative texts, titles, link references and unused footnotes, words
behind a fence, cells beyond a table's columns: all of them can tell a model something
that no person reads. Code stays: everybody sees it. Where the page's content is
uncertain, the rest is left out, and a note says so. A text of 65,000 characters built
to be slow takes some seconds: async callers use a thread.

Forges use older and newer Markdown, with extensions of their own: what only some of
them read as a link, a comment or a table is left out with the text that depends on it.
The forge leaves out footnotes that no text refers to, and reads indented lines below a
footnote as Markdown of their own; only a footnote's plain lines stay here.
https://docs.github.com/en/get-started/writing-on-github (footnotes)
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Final
from unicodedata import normalize

from markdown_it.token import Token

from bot.text import parsed_markdown
from bot.text.parsed_markdown import (
    OMISSION_NOTE,
    TEXT_END,
    Edit,
    Marks,
    Page,
    Span,
    edited,
    inline_parts,
    markdown_blocks,
    outside,
    source,
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


_DEEPEST: Final = 15
"""The most nested brackets; at 20 markdown-it stops parsing, and the forge does not."""

_OPEN_HTML: Final = re.compile(r"<(?:\?|!--|![A-Za-z]|!\[CDATA\[)")
_LINK: Final = re.compile(r"\]\(|!\[")
_RUN: Final = re.compile(r"[^ \t\n]+")
_ADDRESS_CHARS: Final = 2000
_REFERENCE: Final = re.compile(
    r"\[(?:[^\[\]\\]|\\.)+\]:[ \t]*\n?[ \t]*(?P<address>[^ \t\n]+)", re.DOTALL
)
_COLUMN: Final = re.compile(
    r"^[ \t]*(?:\|[ \t]*:?-+:?[ \t]*\|?|:?-+:?[ \t]*\|)[ \t]*\n", re.MULTILINE
)
_BOX: Final = re.compile(r"\[[ xX]\][ \t]*[ \t\n][ \t]*(?=\[)")


def doubtful(content: str, taken: Sequence[Span]) -> Iterator[Edit]:
    """Give the edits that leave out doubtful parts of a block's content.

    All parsers agree on the `taken` places of code, HTML and images.
    """
    for found in _OPEN_HTML.finditer(content):  # HTML that does not end
        if outside(found.start(), taken):
            yield Edit(found.start(), len(content), OMISSION_NOTE)
    if any(outside(at, taken) for at in _open_addresses(content)):
        yield Edit(0, len(content), OMISSION_NOTE)
    # What only a forge reads as a table, or as no part of the paragraph.
    if (column := _COLUMN.search(content)) is not None:
        yield Edit(column.end(), TEXT_END, OMISSION_NOTE)
    if (box := _BOX.match(content)) and markdown_blocks(content[box.end() :])[1]:
        yield Edit(box.end(), len(content), OMISSION_NOTE)


def _open_addresses(content: str) -> Iterator[int]:
    """Find addresses with an unclosed bracket, which older Markdown allows."""
    if (found := _REFERENCE.match(content)) and _is_open(found["address"]):
        yield found.start()
    runs = [*_RUN.finditer(content)]
    for before, run, title in zip([None, *runs], runs, runs[1:], strict=False):
        if title[0][0] not in "\"'(":
            continue
        text = run[0]
        at = text.find("](", max(0, len(text) - _ADDRESS_CHARS - 2))
        if at >= 0 and _is_open(text[at + 2 :]):
            yield run.start() + at
        if before and before[0].endswith("](") and _is_open(text[:_ADDRESS_CHARS]):
            yield before.end() - 2


def _is_open(address: str) -> bool:
    return address.count("(") > address.count(")")


def _depth(content: str) -> int:
    """Return how deeply brackets are nested, counting those that never close."""
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]]", content):
        depth = depth + 1 if bracket == "[" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest


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


_UNWANTED: Final = re.compile(r"(?:data|javascript|vbscript):", re.IGNORECASE)


def taken_spans(tokens: Sequence[Token]) -> list[Span]:
    kinds = ("code_inline", "html_inline", "image")
    return [token.meta["span"] for token in tokens if token.type in kinds]


def hidden_inline(
    content: str, tokens: Sequence[Token], spelled: set[str]
) -> Iterator[Edit]:
    """Give the edits that remove hidden text, in any order, by their places.

    Of the addresses of link references, the first link to use one spells it out: no
    text grows by repeating a long address.
    """
    for index, token in enumerate(tokens):
        if "span" not in token.meta:
            continue
        start, end = token.meta["span"]
        match token.type:
            case "html_inline":
                rest = map(tokens.__getitem__, range(index + 1, len(tokens)))
                html = (t.meta["span"][0] for t in rest if t.type == "html_inline")
                tag = parsed_markdown.hidden_tag(content, start, next(html, -1))
                is_whole = tag.end >= end  # else browsers end it earlier
                yield tag if is_whole else Edit(start, TEXT_END, OMISSION_NOTE)
            case "text_special" if not clean(token.content):
                yield Edit(start, end)
            case "image":
                yield Edit(start, end, f"![]({_image(content, token, spelled)})")
            case "link_open" if tokens[index + 1].type == "link_close":
                yield Edit(start, end)
            case "link_open":
                yield from _link(content, token, spelled)
            case _:
                pass
    yield from doubtful(content, taken_spans(tokens))


def _image(content: str, token: Token, spelled: set[str]) -> str:
    """Return the image's address; empty: it is not kept."""
    address = _wanted(str(token.attrs["src"]))
    start, end = token.meta["span"]
    if content[start:end].endswith(")"):
        return address
    return _once(address, spelled) or ""


def _link(content: str, token: Token, spelled: set[str]) -> Iterator[Edit]:
    """Write a link's address without title and label; most links stay unchanged."""
    bracket, (_, end) = token.meta["label_end"], token.meta["span"]
    address = _wanted(str(token.attrs["href"]))
    if not content.startswith("](", bracket, end):
        first = _once(address, spelled)
        yield Edit(bracket, end, "]" if first is None else f"]({first})")
    elif "title" in token.attrs or not address:
        yield Edit(bracket, end, f"]({address})")


def _once(address: str, spelled: set[str]) -> str | None:
    if address in spelled:
        return None
    spelled.add(address)
    return address


def _wanted(address: str) -> str:
    return "" if _UNWANTED.match(address) else address


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

    It has no unseen characters, and its lines end in newlines only.
    """
    if not _MARKUP.search(text):
        return text
    for _ in range(_ROUNDS):
        before, text = text, edited(_Hidden(text).edits(), text)
        if text == before:
            return text
    # A text that still makes new markup was built to do so.
    text = _MARKS.sub(" ", text)
    while (shorter := edited(_Hidden(text).edits(), text)) != text:
        text = shorter
    return text


class _Hidden:
    def __init__(self, text: str) -> None:
        self._page = Page(text)
        self._tokens, self._env = markdown_blocks(text)
        self._spelled: set[str] = set()
        self._footnotes = Footnotes(self._page)
        references = (
            *self._env.get("references", {}).values(),
            *self._env.get("duplicate_refs", ()),
        )
        self._defined = [range(*each["map"]) for each in references]
        """The lines of link references: their links spell out the address."""
        self._lazy_end = 0
        """The line up to which lazy HTML has been read."""
        self._row: tuple[int, int] | None = None
        """Inside a table's row: the start and end of its unread rest."""

    def edits(self) -> list[Edit]:
        """Return the edits that remove hidden text, unsorted; they may be nested."""
        found = [*self._of_blocks(), *self._unread()]
        defined = ((self._page.start(r.start), r.stop) for r in self._defined)
        found += (Edit(start, self._page.start(stop)) for start, stop in defined)
        # Footnotes are at the end of the page: an edit of the rest removes them too.
        is_broken = any(edit.end == TEXT_END for edit in found)
        return [*found, *self._footnotes.unshown(all_of_them=is_broken)]

    def _of_blocks(self) -> Iterator[Edit]:
        tables = (t for t in self._tokens if t.type == "table_open")
        # Lines of link references and tables: some parsers read them as paragraphs.
        above = set(chain(*self._defined, *map(_lines, tables)))
        for token in self._tokens:
            line = _lines(token).start
            match token.type:
                case "fence":
                    yield self._fence(token)
                case "html_block":
                    yield from self._html(_lines(token))
                case "inline":
                    yield from self._inline(token)
                case "code_block" if line - 1 in above:
                    # The forge may read indented code as part of a paragraph.
                    yield self._rest(token)
                case "table_open":
                    below = self._page.lines[line + 1]
                    if not set(below) - set("- \t>"):  # the forge reads a heading
                        yield self._rest(token)
                case "tr_open":
                    self._row = self._page.start(line), self._page.end(line)
                    if _OTHER_BLOCK.match(self._page.lines[line]):
                        yield self._rest(token)
                case "tr_close":
                    # Nobody sees the cells beyond a table's columns.
                    if self._row and self._page.text[slice(*self._row)].strip(" \t|"):
                        yield Edit(*self._row)
                    self._row = None
                case _:
                    pass

    def _rest(self, token: Token) -> Edit:
        return Edit(self._page.start(_lines(token).start), TEXT_END, OMISSION_NOTE)

    def _fence(self, token: Token) -> Edit:
        line = _lines(token).start
        start = self._page.text.index(token.markup, self._page.start(line))
        language = _LANGUAGE.match(token.info.strip())
        end = self._page.end(line)
        return Edit(start, end, token.markup + (language[0] if language else ""))

    def _html(self, lines: range) -> Iterator[Edit]:
        first = self._page.start(lines.start)
        block = self._page.text[first : self._page.end(lines.stop - 1)]
        yield from parsed_markdown.hidden_in_html(block, first)

    def _inline(self, token: Token) -> Iterator[Edit]:
        lines = _lines(token)
        if self._row is None:
            content = token.content
            marks = self._page.marks(content, lines.start)
        else:  # a cell: the first match in the row's rest
            content = token.content.replace("|", "\\|")  # as it is written
            start = self._page.text.find(content, *self._row)
            marks = [(0, start)] * (start >= 0)
        if not marks:
            yield self._rest(token)
            return
        place = partial(source, marks)
        if self._row is not None:
            self._row = place(len(content)), self._row[1]
        if token.level > 1:
            yield from self._lazy_html(marks, lines)
        if _depth(content) > _DEEPEST and (link := _LINK.search(content)):
            # Parsers differ in what is nested so deeply, and take long over it.
            start, end = map(place, (link.start(), len(content)))
            yield Edit(start, end, OMISSION_NOTE)
            content = content[: link.start()]
        found = inline_parts(content, self._env)
        self._footnotes.read(content, taken_spans(found), lines.start)
        for start, end, text in hidden_inline(content, found, self._spelled):
            stop = end if end == TEXT_END else place(end)
            yield Edit(place(start), stop, text)

    def _lazy_html(self, marks: Marks, lines: range) -> Iterator[Edit]:
        """Read HTML on lazy continuation lines of a list or quote.

        The forge begins a block there, up to the next empty line.
        """
        page, first = self._page, marks[0][1] - self._page.start(lines.start)
        for number, (_, at) in zip(lines, marks, strict=False):
            lazy = at - page.start(number) < first and number >= self._lazy_end
            if lazy and parsed_markdown.LONE_TAG.fullmatch(page.lines[number]):
                below = range(number, len(page.lines))
                empty = (n for n in below if not page.lines[n].strip())
                self._lazy_end = next(empty, below.stop)
                yield from self._html(range(number, self._lazy_end))

    def _unread(self) -> Iterator[Edit]:
        """Stop where blocks are nested deeper than markdown-it reads."""
        made = [_lines(token) for token in self._tokens if token.type in _LEAVES]
        read = set(chain(*made, *self._defined))
        for number, line in enumerate(self._page.lines):
            if number not in read and _MARKED.search(line):
                yield Edit(self._page.start(number), TEXT_END, OMISSION_NOTE)
                return


def _lines(token: Token) -> range:
    first, end = token.map or (0, 0)
    return range(first, end)


CUT_NOTE: Final = "\n\n(The text was too long and has been cut here.)"

_DATA_URL: Final = re.compile(
    r"\bdata:(?=[\w.+-]+/|;)[^\s,]{1,100},[^\s)\"'<>]*", re.IGNORECASE
)


def clean_markdown(text: str, *, limit: int) -> str:
    """Return the visible part of a Markdown text; safe to do twice.

    Code stays as it is written. Removed: unseen characters, comments, tags and their
    attributes, alternative texts, titles, labels, and the data in `data:` addresses.

    Above `limit` characters it ends at the end of a line, and a note says so where
    there is room for one.
    """
    shown = _settled(text)
    if len(shown) <= limit and len(text) <= plaintext.TEXT_CHARS:
        return shown
    note = CUT_NOTE if len(CUT_NOTE) <= limit else ""
    room = limit - len(note)
    while room > 0:
        lines = shown[: room + 1].rpartition("\n")[0].rstrip()
        whole = _settled((lines or shown[:room]) + note)
        if len(whole) <= limit:
            return whole
        room -= len(whole) - limit  # a cut can open what was closed: a note says so
    return note


def _settled(text: str) -> str:
    """Clean the text until it no longer changes."""
    before = None
    while text != before:
        before, seen = text, normalize("NFC", plaintext.clean(text))
        text = broken_up(_DATA_URL.sub("data:\u2026", visible(seen)))
    return text
