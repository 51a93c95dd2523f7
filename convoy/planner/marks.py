"""Reads the marks for the planner in a task's text, and removes them from it.

`(after 1, 2)`, `paths: a.py, b/`, `needs: port:5432`, `engine: tests` and
``accept: `make test` `` are read in an item's first paragraph, all but the first behind
its words; further down, `(after 1)` anywhere and the others where a line or bullet
begins with them. Code and quotes are left alone.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from convoy.planner.checklist import Item

Mark = tuple[str, str]
"""A key (`after`, `paths`, `needs`, `engine`, `accept`) and one of its values, as
written.

`unread` is the key of what begins like a mark and goes on as something else;
`doubtful` of words that stay, because they look like a mark and say something.
"""

_DIGITS = r"[0-9\uff10-\uff19]"
_OPEN, _CLOSE, _COLON, _COMMA = (
    r"[(\uff08]",
    r"[)\uff09]",
    r"[:\uff1a]",
    r"[,\uff0c\u3001]",
)
_WAITS = r"(?:after|depends\s+on|depending\s+on|blocked\s+by|waits?\s+for)"
_NUMBER = rf"[#\uff03]?{_DIGITS}{{1,6}}"
_NUMBERS = rf"{_NUMBER}(?:(?:\s*{_COMMA}\s*(?:and\s+)?|\s+and\s+|\s*&\s*){_NUMBER})*"
_AFTER_WORDS = (
    rf"{_WAITS}(?:\s*{_COLON}\s*|\s+)(?:(?:tasks?|steps?|items?)\s+)?"
    rf"(?P<values>{_NUMBERS})"
)
_AFTER = re.compile(rf"(?<!`){_OPEN}\s*{_AFTER_WORDS}\s*{_CLOSE}", re.IGNORECASE)
_AFTER_LINE = re.compile(rf"{_AFTER_WORDS}\s*[.;\u3002]?\s*", re.IGNORECASE)
_AFTER_TAIL = re.compile(
    rf"(?:(?<=\s)|(?<=[,;\uff0c])){_WAITS}\s*{_COLON}\s*(?:tasks?\s+)?"
    rf"(?P<values>{_NUMBERS})(?=\s*[.;\u3002]?\s*$)",
    re.IGNORECASE | re.MULTILINE,
)
_AFTER_LIKE = re.compile(
    rf"(?<!`){_OPEN}\s*(?:{_WAITS}\s*{_COLON}|(?:depends\s+on|blocked\s+by)\s)"
    rf"[^()\uff08\uff09\n]{{0,200}}{_CLOSE}",
    re.IGNORECASE,
)

_KEYS = "paths|needs|engine|accept"
_KEY = rf"{_OPEN}?\*{{0,2}}(?P<key>{_KEYS})\*{{0,2}}{_COLON}\*{{0,2}}"
_VALUE = (
    rf"(?:`[^`\n]+`|\"[^\"\n]+\"(?=[\s,\uff0c\u3001.;)\uff09]|\Z)"
    rf"|(?!\*{{0,2}}(?:{_KEYS})\*{{0,2}}{_COLON})[^\s,\uff0c\u3001`]+)"
)
_KEYED = re.compile(
    rf"(?:^|(?<=\s)|(?=\uff08)){_KEY}[ \t]*"
    rf"(?P<values>{_VALUE}(?:\s*{_COMMA}\s*{_VALUE})*)",
    re.IGNORECASE,
)
_TAIL = re.compile(rf"(?P<rest>.*?)(?:,?(?=\s{_KEY})|$)", re.IGNORECASE | re.MULTILINE)
_KEY_FIRST = re.compile(_KEY, re.IGNORECASE)
_ONE_NUMBER = re.compile(rf"[#\uff03]?{_DIGITS}+")
_LIKE_A_PATH = re.compile(r"[`\"]|[\w)\]][./][\w]|/|:\d")
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
        """Return the values of one key, each once, in the order of the text."""
        return tuple(dict.fromkeys(v for k, v in self.marks if k == key))


def marked(item: Item) -> Marked:
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
            marks += _numbers(_AFTER.finditer(line))
            below.append(_AFTER.sub("", line))
    lead, found = _taken_out("\n".join(flowing))
    lines = [_GAP.sub(_one_space, line) for line in lead.split("\n") if line.strip()]
    lines[:1] = [line.strip().rstrip(_LOOSE) for line in lines[:1]]
    return Marked("\n".join(lines + below).strip(), (*found, *marks))


def _marks_only(line: str) -> list[Mark] | None:
    """Return the marks of a line that begins with one, else None."""
    text = _BULLET.sub("", line, count=1)
    if after := _AFTER_LINE.fullmatch(text):
        return _numbers([after])
    if not _KEY_FIRST.match(text):
        return None
    _, marks = _taken_out(text)
    return marks if any(key != "after" for key, _ in marks) else [("unread", text)]


def _taken_out(text: str) -> tuple[str, list[Mark]]:
    marks = _numbers(_AFTER.finditer(text))
    text = _AFTER.sub(_apart, text)
    marks += _numbers(_AFTER_TAIL.finditer(text))
    text = _AFTER_TAIL.sub("", text)
    marks += [("doubtful", found[0]) for found in _AFTER_LIKE.finditer(text)]
    kept, at = [], 0
    for match in _KEYED.finditer(text):
        tail = _TAIL.match(text, match.end())
        more = tail[0] if tail else ""
        if tail and _unended(tail["rest"]):
            whole = f"{match[0]}{more}".strip()
            if match.start() and not _LIKE_A_PATH.search(whole):
                marks.append(("doubtful", whole))
                continue
            marks.append(("unread", whole))
        values = _ONE_VALUE.findall(match["values"])
        marks += [(match["key"].lower(), _bare(value)) for value in values]
        kept.append(text[at : match.start()])
        at = match.end()
    return "".join((*kept, text[at:])), marks


def _unended(rest: str) -> bool:
    """Whether words follow a mark's values up to the next mark or the line's end."""
    return bool(rest.strip(" \t.;)\uff09-\u2013\u2014"))


def _apart(found: re.Match[str]) -> str:
    """Keep the words around a mark apart where no space does."""
    return " " if found.string[found.end() : found.end() + 1].isalnum() else ""


def _numbers(matches: Iterable[re.Match[str]]) -> list[Mark]:
    return [
        ("after", number)
        for match in matches
        for number in _ONE_NUMBER.findall(match["values"])
    ]


def _bare(value: str) -> str:
    """Remove back quotes, a full stop, and a bracket that was opened outside."""
    for quote in ("`", '"'):
        if value.startswith(quote) and value.endswith(quote):
            return value.strip(quote).strip()
    value = _STOP.sub("", value)
    for opened, closed in ("()", "\uff08\uff09"):
        if value.count(closed) > value.count(opened):
            value = value.removesuffix(closed)
    return value


def _one_space(gap: re.Match[str]) -> str:
    return " " if gap.end() < len(gap.string) and gap.string[gap.end()] != "." else ""
