"""The boxes in a convoy's comment: what a tick asks for. Pure.

A box is a line of a task list with a hidden key, so that ticking it on the page is
found in the comment's text. A tick asks for what a command asks for, by the same right.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from bot.speech import requests as asked
from bot.speech.requests import Request
from convoy.rivals import is_stopped
from convoy.state import Convoy

MOST_RETRIES: Final = 20
"""More blocked tasks than that are retried by a command."""
_BOX: Final = re.compile(
    r"^- \[(?P<tick>[ xX])\] .*<!-- brat:box=(?P<key>[a-z]+(?:/[1-9][0-9]{0,8})?) -->$",
    re.MULTILINE,
)


class Box(NamedTuple):
    """One thing that a tick asks for."""

    key: str
    says: str


def offered(convoy: Convoy) -> tuple[Box, ...]:
    """Return what can be asked for by a tick now."""
    return tuple(_offered(convoy))


def _offered(convoy: Convoy) -> Iterator[Box]:
    if convoy.ended:
        return
    if convoy.state == "planning" and convoy.tasks and not convoy.staged:
        yield Box("approve", "Approve the plan")
    blocked = [task.number for task in convoy.tasks if is_stopped(convoy, task)]
    for number in blocked[:MOST_RETRIES]:
        yield Box(f"retry/{number}", f"Try task {number} again")
    yield Box("cancel", "Cancel the convoy")


def lines(convoy: Convoy, ticked: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Return the boxes as lines of Markdown, some of them ticked."""
    return tuple(
        f"- [{'x' if box.key in ticked else ' '}] {box.says} "
        f"<!-- brat:box={box.key} -->"
        for box in offered(convoy)
    )


def ticked_in(text: str) -> frozenset[str]:
    """Return the keys of the ticked boxes in a comment's text."""
    found = _BOX.finditer(text.replace("\r\n", "\n"))
    return frozenset(each["key"] for each in found if each["tick"] in "xX")


def unticked(text: str) -> str:
    """Return a comment's text with all its boxes empty."""
    return _BOX.sub(lambda found: found[0].replace(found["tick"], " ", 1), text)


def request_of(key: str) -> Request | None:
    """Return what a box asks for; None: there is no such box."""
    verb, _, number = key.partition("/")
    match verb, number:
        case "approve", "":
            return asked.Approve()
        case "cancel", "":
            return asked.Cancel()
        case "retry", _ if number:
            return asked.Retry(int(number))
        case _:
            return None
