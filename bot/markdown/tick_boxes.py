"""Writes the boxes in the bot's comments, and reads which are ticked. Pure."""

import re
from typing import Final

_BOX: Final = re.compile(
    r"^- \[(?P<tick>[ xX])\] .*<!-- brat:box=(?P<key>[a-z]+(?:/[1-9][0-9]{0,8})?) -->$",
    re.MULTILINE,
)


def box_line(key: str, says: str, *, ticked: bool) -> str:
    """Return a box as a line of Markdown with its key hidden inside."""
    return f"- [{'x' if ticked else ' '}] {says} <!-- brat:box={key} -->"


def ticked_in(text: str) -> frozenset[str]:
    """Return the keys of the ticked boxes in a comment's text."""
    found = _BOX.finditer(text.replace("\r\n", "\n"))
    return frozenset(each["key"] for each in found if each["tick"] in "xX")


def unticked(text: str) -> str:
    """Return a comment's text with all its boxes empty."""
    return _BOX.sub(lambda found: found[0].replace(found["tick"], " ", 1), text)
