"""Puts the text of the issues that a tracking issue names into its task list. Pure.

The other issue's text stands in a code block, where no mark, box or quote counts.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

from convoy.planner.checklist import Item
from convoy.planner.intake import intake
from convoy.planner.marks import marked
from convoy.text.plaintext import clean, cut

TITLE_CHARS: Final = 100
BODY_CHARS: Final = 12_000
"""Leaves room in a task's instructions for what its own issue says around the list."""
_FEWEST: Final = 500
_NUMBER: Final = re.compile(r"#([0-9]{1,9})")
_ADDRESS: Final = re.compile(r"(.*)/issues/([0-9]{1,9})/?", re.IGNORECASE)
_TICKS: Final = re.compile(r"`+")
LEFT_OUT: Final = "left out"
"""Begins the reason for which an item that names an issue is no task."""
_OPEN_BOX: Final = re.compile(r"\[ \]\s?")
_TITLED: Final = re.compile(r"(?<![\w/])#([0-9]{1,9})\b")


class Named(NamedTuple):
    """An issue as it was when the one that names it was accepted."""

    number: int
    title: str
    body: str


def number_here(written: str, repository: str, web: str) -> int | None:
    """Return the number of an issue of this repository; None: it is elsewhere.

    Args:
        written: a reference as an item gives it.
        repository: this one, as `owner/name`.
        web: this repository's address for people; empty: it has none.
    """
    short = written.casefold().removeprefix(repository.casefold())
    if found := _NUMBER.fullmatch(short):
        return int(found[1])
    found = _ADDRESS.fullmatch(written)
    if found and web and found[1].casefold() == web.rstrip("/").casefold():
        return int(found[2])
    return None


def filled(
    text: str,
    found: Mapping[int, Named | str],
    room: int,
    labels: Collection[str] = (),
) -> str:
    """Return a text whose items say what the issues say that they name.

    Args:
        text: a cleaned text.
        found: the named issues, by the line of the item that names them, or why such an
            item is no task.
        room: about how many characters the issues' texts may have together.
        labels: what the boxes of the repository's issue forms say.
    """
    lines = text.split("\n")
    work = intake(text, labels).work
    each = min(BODY_CHARS, max(_FEWEST, room // max(1, len(found))))
    new: dict[int, list[str]] = {}
    for at in work.headings:  # boxes under a plain bullet are items
        new[at] = [_OPEN_BOX.sub("", lines[at], count=1)]
    for item in work.items:
        if not item.done and item.reference and (issue := found.get(item.at)):
            new[item.at] = _written(item, issue, each, labels)
    for at in sorted(new, reverse=True):  # what is below keeps its line
        lines[at : at + 1] = new[at]
    return "\n".join(lines)


def _written(
    item: Item, issue: Named | str, room: int, labels: Collection[str]
) -> list[str]:
    """Return the lines of an item that names an issue, with what is known of it."""
    if isinstance(issue, str):
        return [f"{item.bullet}[x] {item.reference} ({LEFT_OUT}: {issue})"]
    said = _said(issue, room, labels)
    indent = " " * len(item.bullet.expandtabs(4))
    below = [f"{indent}{line}".rstrip() for line in said[1:]]
    return [f"{item.bullet}[ ] {said[0]}", *below]


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


def _said(issue: Named, room: int, labels: Collection[str]) -> list[str]:
    body = cut(clean(f"{issue.title}\n\n{issue.body}".strip()), room)
    longest = max(map(len, _TICKS.findall(body)), default=0)
    fence = "`" * max(3, longest + 1)
    says = f"Issue #{issue.number} says:"
    return [_title(issue, labels), "", says, "", fence, *body.split("\n"), fence, ""]


def _title(issue: Named, labels: Collection[str]) -> str:
    """Return a title for the item: one that would be read as a mark is not used."""
    words = cut(" ".join(clean(issue.title).split()), TITLE_CHARS)
    title = f"{words} (#{issue.number})"
    items = intake(f"- [ ] {title}", labels).work.items
    read = [marked(item) for item in items]
    if words and [(each.text, each.marks) for each in read] == [(title, ())]:
        return title
    return f"Do what issue #{issue.number} asks for"
