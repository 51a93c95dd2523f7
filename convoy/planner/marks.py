"""What an item says beside its words: marks for the planner, and issues that it names.

`(after 1, 2)`, `paths: a.py, b/`, `needs: port:5432`, `engine: tests` and
``accept: `make test` `` are marks on a line or bullet of their own. In an item's first
paragraph they are, too, where a line ends or begins in them and they say what can be:
people write sentences such as "Replace the search engine: elasticsearch". Code and
quotes are left alone.

The text of an issue that an item names is put into the item. It stands in a code block,
where no mark, box or quote counts. An item whose issue is no task is left out, and who
misses its work is told. Pure.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from convoy.model.engine_types import ENGINE_TYPES
from convoy.planner.issue_text import STRUCK, Item, intake
from convoy.text import clean, code_block, cut, nearest

Mark = tuple[str, str]
"""A key (`after`, `paths`, `needs`, `engine`, `accept`) and one of its values, as
written.

`unread` is the key of what begins like a mark and goes on as something else.
"""

_DIGITS = r"[0-9\uff10-\uff19]"
_OPEN, _CLOSE, _COLON, _COMMA = (
    r"[(\uff08]",
    r"[)\uff09]",
    r"[:\uff1a]",
    r"[,\uff0c\u3001]",
)
_WAITS = r"(?:after|depends\s+on|depending\s+on|blocked\s+by|waits?\s+for)"
_NUMBER = rf"(?:(?:tasks?|steps?|items?)\s+)?[#\uff03]?{_DIGITS}{{1,6}}"
_TO = r"(?:\s*[-\u2010-\u2015]\s*|\s+to\s+)"
_NUMBERS = (
    rf"{_NUMBER}(?:(?:\s*{_COMMA}\s*(?:and\s+)?|\s+and\s+|\s*&\s*|{_TO}){_NUMBER})*"
)
_AFTER_WORDS = rf"{_WAITS}(?:\s*{_COLON}\s*|\s+)(?P<values>{_NUMBERS})"
_AFTER = re.compile(
    rf"(?<!`){_OPEN}\s*{_AFTER_WORDS}\s*"
    rf"(?:{_CLOSE}|[,;](?=\s*(?:paths|needs|engine|accept){_COLON}))",
    re.IGNORECASE,
)
WITHOUT_NUMBER = re.compile(
    rf"(?<!`){_OPEN}\s*{_WAITS}\b[^()\n]{{0,80}}{_CLOSE}", re.IGNORECASE
)
"""What looks like an order; applied to what is left beside the marks."""
_AFTER_LINE = re.compile(rf"{_AFTER_WORDS}\s*+[.;\u3002]?\s*+", re.IGNORECASE)
_AFTER_TAIL = re.compile(
    rf"(?:(?<=\s)|(?<=[,;\uff0c])){_WAITS}\s*{_COLON}\s*(?:tasks?\s+)?"
    rf"(?P<values>{_NUMBERS})(?=[^\S\n]*+[.;\u3002]?[^\S\n]*+$)",
    re.IGNORECASE | re.MULTILINE,
)
_KEYS = "paths|needs|engine|accept"
_KEY = rf"{_OPEN}?\*{{0,2}}(?P<key>{_KEYS})\*{{0,2}}{_COLON}\*{{0,2}}"
_QUOTES = '"\u201c\u201d\u201e\u00ab\u00bb'
_BOTH = f"`{_QUOTES}"
_VALUE = (
    rf"(?:`[^`\n]+`|(?:\"[^\"\n]+\"|[{_QUOTES[1:]}][^{_QUOTES}\n]+[{_QUOTES[1:]}])"
    rf"(?=[\s,\uff0c\u3001.;)\uff09]|\Z)"
    rf"|(?!\*{{0,2}}(?:{_KEYS})\*{{0,2}}{_COLON})[^\s,\uff0c\u3001`]+)"
)
_KEYED = re.compile(
    rf"(?:^|(?<=\s)|(?=\uff08)){_KEY}[^\S\n]*"
    rf"(?P<values>{_VALUE}(?:\s*{_COMMA}\s*{_VALUE})*)(?:(?<=[{_BOTH}]){_CLOSE})?",
    re.IGNORECASE,
)
_TAIL = re.compile(rf"(?P<rest>.*?)(?:,?(?=\s{_KEY})|$)", re.IGNORECASE | re.MULTILINE)
_KEY_FIRST = re.compile(_KEY, re.IGNORECASE)
_ONE_NUMBER = re.compile(rf"[#\uff03]?{_DIGITS}+")
_RANGE = re.compile(rf"({_DIGITS}+){_TO}({_DIGITS}+)", re.IGNORECASE)
_RANGE_MOST = 1000
_LIKE_A_NEED = re.compile(r"`?(?:port|service):", re.IGNORECASE)
_IN_WORD = re.compile(r"[^\s.;,)\uff09\u3002\-\u2013\u2014]")
_LIKE_A_PATH = re.compile(rf"[{_BOTH}]|[\w)\]][./][\w]|[/\\~]|:\d")
_ELSEWHERE = re.compile(r"[/~]|[A-Za-z]:[/\\]")
_ONE_VALUE = re.compile(_VALUE, re.IGNORECASE)

_BULLET = re.compile(r"^\s*(?:(?:[-*+]|[0-9]{1,9}[.)])\s+)?")
_STOP = re.compile(r"(?<=[A-Za-z0-9/)])[.;]$")
_GAP = re.compile(r"[ \t]{2,}|[ \t]+(?=\.?$)")
_LOOSE = " \t,;:-\u2013\u2014"


@dataclass(frozen=True)
class Marked:
    """An item's text without its marks, and the marks; nothing is checked yet."""

    text: str
    """The first line is the title."""
    marks: tuple[Mark, ...]

    def of(self, key: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(v for k, v in self.marks if k == key))


@dataclass(frozen=True)
class Known:
    """What a mark in the flow of a sentence can name."""

    engines: Collection[str] | None = None
    """None: any."""
    most: int = 10**6
    """The highest number of an item."""

    def may_be(self, key: str, values: Collection[str]) -> bool:
        match key:
            case "after":
                return any(not n.isdecimal() or int(n) <= self.most for n in values)
            case "engine":
                named = {*(self.engines or ()), *ENGINE_TYPES}
                is_free = self.engines is None
                return is_free or all(nearest(_bare(name), named) for name in values)
            case "needs":
                return all(map(_LIKE_A_NEED.match, values))
            case "accept":
                return all(value.startswith("`") for value in values)
            case _:
                outside = any(_ELSEWHERE.match(_bare(path)) for path in values)
                return not outside and any(map(_LIKE_A_PATH.search, values))


ANYTHING = Known()


@dataclass(frozen=True)
class _Span:
    """A part of a text that has the form of a mark."""

    start: int
    end: int
    marks: tuple[Mark, ...]
    can_be: bool


def marked(item: Item, known: Known = ANYTHING) -> Marked:
    """Split an item's text into marks and the rest; any text is valid."""
    flowing: list[str] = list(item.lines[:1])
    below: list[str] = []
    marks: list[Mark] = []
    for index, line in enumerate(item.lines[1:], 1):
        if index in item.quoted:
            below.append(line)
        elif (found := _marks_only(line)) is not None:
            marks += found
        elif index < item.lead:
            flowing.append(line)
        else:
            spans = tuple(_orders(line, known))
            text, found = _without(line, spans, is_flow=True)
            marks += found
            below.append(text)
    lead, found = _taken_out("\n".join(flowing), known)
    lines = [_GAP.sub(_one_space, line) for line in lead.split("\n") if line.strip()]
    lines[:1] = [line.strip().rstrip(_LOOSE) for line in lines[:1]]
    return Marked("\n".join(lines + below).strip(), (*found, *marks))


def _marks_only(line: str) -> list[Mark] | None:
    text = _BULLET.sub("", line, count=1)
    if after := _AFTER_LINE.fullmatch(text):
        return _numbers([after])
    if not _KEY_FIRST.match(text):
        return None
    _, marks = _taken_out(text)
    return marks if any(key != "after" for key, _ in marks) else [("unread", text)]


def _taken_out(text: str, known: Known | None = None) -> tuple[str, list[Mark]]:
    """Return a text without its marks, and these.

    Of a paragraph `known` says what its sentences may name; None: it is a line that
    begins with a mark.
    """
    spans = [*_orders(text, known), *_orders(text, known, _AFTER_TAIL)]
    bare, ends = _blank(text, spans), {order.end for order in spans}
    for found in _KEYED.finditer(bare):
        key, values = found["key"].lower(), _ONE_VALUE.findall(found["values"])
        marks = tuple((key, _bare(value)) for value in values)
        can_be = known is None or known.may_be(key, values)
        end = found.end()
        tail = _TAIL.match(bare, end)
        if tail and tail["rest"].strip(" \t.;)\uff09-\u2013\u2014"):
            more = [word for word in tail["rest"].split() if word not in ("and", "&")]
            end = tail.end("rest")
            can_be = known is None or (can_be and all(map(_LIKE_A_PATH.search, more)))
            if can_be:
                marks = (("unread", f"{found[0]}{tail['rest']}".strip()),)
        if known is not None and found["key"][0].isupper():
            can_be = can_be and _begins(bare, found.start(), ends)
        if can_be and tail:
            ends.add(tail.end())
        spans.append(_Span(found.start(), end, marks, can_be))
    return _without(text, spans, is_flow=known is not None)


def _orders(
    text: str, known: Known | None, form: re.Pattern[str] = _AFTER
) -> Iterator[_Span]:
    for found in form.finditer(text):
        numbers = tuple(_numbers([found]))
        can_be = known is None or known.may_be("after", [n for _, n in numbers])
        yield _Span(found.start(), found.end(), numbers, can_be)


def _begins(text: str, at: int, ends: Collection[int]) -> bool:
    """Whether a sentence could begin here; `ends` are those of the marks before."""
    while at and at not in ends and text[at - 1] in " \t\u00a0\u3000":
        at -= 1
    return not at or at in ends or text[at - 1] in "\n.!?;\u3002"


def _without(
    text: str, spans: Collection[_Span], *, is_flow: bool
) -> tuple[str, list[Mark]]:
    """Return a text without the spans that are marks there, and the marks.

    In the flow of sentences only what a line ends or begins in is one; whether it does
    hangs on what is taken for a mark beside it.
    """
    taken = [span for span in spans if span.can_be]
    while is_flow:
        bare = _blank(text, taken)
        # The place of each letter: to look at the line for each mark again would take
        # seconds for one of thousands.
        words = [found.start() for found in _IN_WORD.finditer(bare)]
        kept: list[_Span] = []
        for span in taken:
            begin = bare.rfind("\n", 0, span.start) + 1
            stop = bare.find("\n", span.end)
            ends = begin, span.start, span.end, stop if stop >= 0 else len(bare)
            first, here, behind, last = (bisect_left(words, each) for each in ends)
            if first == here or behind == last:
                kept.append(span)
        if kept == taken:
            break
        taken = kept
    marks = [mark for span in taken for mark in span.marks]
    return _blank(text, taken, is_closed=True), marks


def _blank(text: str, spans: Iterable[_Span], *, is_closed: bool = False) -> str:
    """Return a text with blanks for the spans, or with no gap between words at all."""
    kept, at = [], 0
    for span in sorted(spans, key=lambda span: span.start):
        gap = re.sub(r"[^\n]", " ", text[max(at, span.start) : span.end])
        if is_closed:
            gap = " " if text[span.end : span.end + 1].isalnum() else ""
        kept += [text[at : span.start], gap]
        at = max(at, span.end)
    return "".join((*kept, text[at:]))


def _numbers(matches: Iterable[re.Match[str]]) -> list[Mark]:
    return [
        ("after", number)
        for match in matches
        for number in _ONE_NUMBER.findall(_RANGE.sub(_spread, match["values"]))
    ]


def _spread(found: re.Match[str]) -> str:
    """Return all numbers of a range; one that is none stays as it is."""
    numbers = range(int(found[1]), int(found[2]) + 1)[:_RANGE_MOST]
    return ",".join(map(str, numbers)) or found[0]


def _bare(value: str) -> str:
    """Remove back quotes, a full stop, and a bracket that was opened outside."""
    if len(value) > 1 and value[0] in _BOTH and value[-1] in _BOTH:
        return value[1:-1].strip()
    value = _STOP.sub("", value)
    for opened, closed in ("()", "\uff08\uff09"):
        if value.count(closed) > value.count(opened):
            value = value.removesuffix(closed)
    return value


def _one_space(gap: re.Match[str]) -> str:
    return " " if gap.end() < len(gap.string) and gap.string[gap.end()] != "." else ""


ISSUE_TITLE_CHARS: Final = 100
ISSUE_BODY_CHARS: Final = 12_000
"""Leaves room in a task's instructions for what its own issue says around the list."""
_FEWEST: Final = 500
_ISSUE_NUMBER: Final = re.compile(r"#([0-9]{1,9})")
_ADDRESS: Final = re.compile(r"(.*)/issues/([0-9]{1,9})/?", re.IGNORECASE)
LEFT_OUT: Final = "left out"
"""Begins the reason for which an item that names an issue is no task."""
_OPEN_BOX: Final = re.compile(r"\[ \]\s?")
_TITLED: Final = re.compile(r"(?<![\w/])#([0-9]{1,9})\b")


class ReferredIssue(NamedTuple):
    """An issue as it was when the one that names it was accepted."""

    number: int
    title: str
    body: str


def number_here(written: str, repository: str, web: str) -> int | None:
    """Return the number of an issue of this repository; None: it is elsewhere.

    `web` is the repository's address for people; empty: it has none.
    """
    short = written.casefold().removeprefix(repository.casefold())
    if found := _ISSUE_NUMBER.fullmatch(short):
        return int(found[1])
    found = _ADDRESS.fullmatch(written)
    if found and web and found[1].casefold() == web.rstrip("/").casefold():
        return int(found[2])
    return None


def filled_items(
    text: str,
    found: Mapping[int, ReferredIssue | str],
    room: int,
    labels: Collection[str] = (),
) -> str:
    """Return a text whose items say what the issues say that they name.

    `found` has them by the line of the item that names them, or why such an item is no
    task; `room` is about how many characters they may have together.
    """
    lines = text.split("\n")
    work = intake(text, labels).work
    each = min(ISSUE_BODY_CHARS, max(_FEWEST, room // max(1, len(found))))
    new: dict[int, list[str]] = {}
    for at in work.headings:  # boxes under a plain bullet are items
        new[at] = [_OPEN_BOX.sub("", lines[at], count=1)]
    for item in work.items:
        issue = found.get(item.at)
        if item.done or not item.reference or not issue:
            continue
        if isinstance(issue, str):
            left = f"{item.bullet}[x] {item.reference} ({LEFT_OUT}: {issue})"
            new[item.at] = [left]
            continue
        first, *said = _issue_lines(issue, each, labels)
        indent = " " * len(item.bullet.expandtabs(4))
        below = [f"{indent}{line}".rstrip() for line in said]
        new[item.at] = [f"{item.bullet}[ ] {first}", *below]
    for at in sorted(new, reverse=True):  # what is below keeps its line
        lines[at : at + 1] = new[at]
    return "\n".join(lines)


def items_by_issue(items: Iterable[Item]) -> dict[int, int]:
    """Return which item does what an issue asks for, by the issue's number.

    An issue that several items name in their titles is none's. What was left out counts
    where nothing else names it.
    """
    found: dict[int, list[int]] = defaultdict(list)
    out: dict[int, list[int]] = defaultdict(list)
    for item in items:
        title = marked(item).text.partition("\n")[0]
        numbers = out if f" ({LEFT_OUT}: " in title else found
        for number in {int(each) for each in _TITLED.findall(title)}:
            numbers[number].append(item.number)
    known = {**out, **found}
    return {issue: at[0] for issue, at in known.items() if len(at) == 1}


def _issue_lines(issue: ReferredIssue, room: int, labels: Collection[str]) -> list[str]:
    body = cut(clean(f"{issue.title}\n\n{issue.body}".strip()), room)
    words = cut(" ".join(clean(issue.title).split()), ISSUE_TITLE_CHARS)
    title = f"{words} (#{issue.number})"
    items = intake(f"- [ ] {title}", labels).work.items
    read = [(each.text, each.marks) for each in map(marked, items)]
    if not words or read != [(title, ())]:  # it would be read as a mark
        title = f"Do what issue #{issue.number} asks for"
    says = f"Issue #{issue.number} says:"
    return [title, "", says, "", *code_block(body).split("\n"), ""]


CLOSED: Final = "is closed"
"""Ends the reason where the issue's work is done: nobody has to wait for it."""
_LEFT_OUT_ITEM: Final = re.compile(rf"\S+ \({LEFT_OUT}: (?P<why>.*)\)")


def left_out(items: Iterable[Item]) -> Iterator[tuple[int, str]]:
    """Yield the number of each item that is no task, and why: a clause."""
    for item in items:
        whole = " ".join(item.lines).strip()
        if STRUCK.fullmatch(item.lines[0].strip()):
            yield item.number, "it is struck through"
        elif item.done and (said := _LEFT_OUT_ITEM.fullmatch(whole)):
            yield item.number, said["why"]


def missed_work(items: tuple[Item, ...]) -> str:
    """Return which task waits for work that nobody does here; empty: none does."""
    issues = items_by_issue(items)
    out = {number: why for number, why in left_out(items) if not why.endswith(CLOSED)}
    for item in items:
        for written in () if item.done else marked(item).of("after"):
            number = int(written.lstrip("#\uff03"))
            on = issues.get(number) if written[0] in "#\uff03" else number
            if on in out:
                return f"task {item.number} waits for item {on}: {out[on]}"
    return ""
