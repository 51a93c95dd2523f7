"""Which items that name an issue are no tasks, and who misses their work. Pure."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from convoy.planner.checklist import Item
from convoy.planner.marks import marked
from convoy.planner.named_issues import LEFT_OUT, items_by_issue

CLOSED: Final = "is closed"
"""Ends the reason where the issue's work is done: nobody has to wait for it."""
_SAID: Final = re.compile(rf"\S+ \({LEFT_OUT}: (?P<why>.*)\)")


class LeftOut(NamedTuple):
    """An item that is no task, and why: a clause."""

    number: int
    why: str


def left_out(items: Iterable[Item]) -> Iterator[LeftOut]:
    """Yield the items of a text that were left out when its issues were read."""
    for item in items:
        said = _SAID.fullmatch(" ".join(item.lines).strip())
        if item.done and said:
            yield LeftOut(item.number, said["why"])


def missed(items: tuple[Item, ...]) -> str:
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
