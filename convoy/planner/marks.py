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

`unread` is the key of what begins like a mark and goes on as something else.
"""

_NUMBERS = r"#?[0-9]{1,6}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*)#?[0-9]{1,6})*"
_AFTER_WORDS = rf"after:?\s+(?:tasks?\s+)?(?P<values>{_NUMBERS})"
_AFTER = re.compile(rf"(?<!`)\(\s*{_AFTER_WORDS}\s*\)", re.IGNORECASE)
_AFTER_LINE = re.compile(rf"{_AFTER_WORDS}\s*[.;]?\s*", re.IGNORECASE)

_KEY = r"\(?\*{0,2}(?P<key>paths|needs|engine|accept)\*{0,2}:\*{0,2}"
_VALUE = r"(?:`[^`\n]+`|(?!\*{0,2}(?:paths|needs|engine|accept)\*{0,2}:)[^\s,`]+)"
_KEYED = re.compile(
    rf"(?:^|(?<=\s)){_KEY}[ \t]*(?P<values>{_VALUE}(?:\s*,\s*{_VALUE})*)",
    re.IGNORECASE,
)
_TAIL = re.compile(rf"(?P<rest>.*?)(?:,?(?=\s{_KEY})|$)", re.IGNORECASE | re.MULTILINE)
_KEY_FIRST = re.compile(_KEY, re.IGNORECASE)
_ONE_NUMBER = re.compile(r"#?[0-9]+")
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
    text = _AFTER.sub("", text)
    for match in _KEYED.finditer(text):
        values = _ONE_VALUE.findall(match["values"])
        marks += [(match["key"].lower(), _bare(value)) for value in values]
        tail = _TAIL.match(text, match.end())
        if tail and tail["rest"].strip(" \t.;)-\u2013\u2014"):
            marks.append(("unread", f"{match[0]}{tail[0]}".strip()))
    return _KEYED.sub("", text), marks


def _numbers(matches: Iterable[re.Match[str]]) -> list[Mark]:
    return [
        ("after", number)
        for match in matches
        for number in _ONE_NUMBER.findall(match["values"])
    ]


def _bare(value: str) -> str:
    """Remove back quotes, a full stop, and a bracket that was opened outside."""
    if value.startswith("`"):
        return value.strip("`").strip()
    value = _STOP.sub("", value)
    return value.removesuffix(")") if value.count(")") > value.count("(") else value


def _one_space(gap: re.Match[str]) -> str:
    return " " if gap.end() < len(gap.string) and gap.string[gap.end()] != "." else ""
