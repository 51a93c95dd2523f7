"""Puts the text of the issues that a tracking issue names into its task list. Pure.

The other issue's text stands in a code block, where no mark, box or quote counts.
"""

import re
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from convoy.planner.checklist import Item
from convoy.planner.intake import intake, reference
from convoy.planner.marks import marked
from convoy.text.plaintext import clean, cut

TITLE_CHARS: Final = 100
BODY_CHARS: Final = 12_000
"""Leaves room in a task's instructions for what its own issue says around the list."""
_FEWEST: Final = 500
_NUMBER: Final = re.compile(r"#([0-9]{1,9})")
_ADDRESS: Final = re.compile(r"(.*)/issues/([0-9]{1,9})/?", re.IGNORECASE)
_TICKS: Final = re.compile(r"`+")
_SAYS: Final = re.compile(r"[^\n]*\n+Issue #([0-9]{1,9}) says:\n+```")


class Named(NamedTuple):
    """An issue as it was when the one that names it was accepted."""

    number: int
    title: str
    body: str


def naming(text: str, labels: Collection[str] = ()) -> tuple[Item, ...]:
    """Return the open items of a cleaned text that hold nothing but another issue."""
    items = intake(text, labels).work.items
    return tuple(item for item in items if not item.done and reference(item))


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
    text: str, found: Mapping[int, Named], room: int, labels: Collection[str] = ()
) -> str:
    """Return a text whose items say what the issues say that they name.

    Args:
        text: a cleaned text.
        found: the named issues, by the line of the item that names them.
        room: about how many characters the issues' texts may have together.
        labels: what the boxes of the repository's issue forms say.
    """
    lines = text.split("\n")
    each = min(BODY_CHARS, max(_FEWEST, room // max(1, len(found))))
    for item in reversed(naming(text, labels)):
        if issue := found.get(item.at):
            before = lines[item.at].partition("[")[0]
            said = _said(issue, each, labels)
            indent = " " * len(before.expandtabs(4))
            below = [f"{indent}{line}".rstrip() for line in said[1:]]
            new = [f"{before}[ ] {said[0]}", *below]
            lines[item.at : item.at + len(item.lines)] = new
    return "\n".join(lines)


def named_by(instructions: str) -> int | None:
    """Return the issue whose text a task's instructions are; None: they are none's."""
    found = _SAYS.match(instructions)
    return int(found[1]) if found else None


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
