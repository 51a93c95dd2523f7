"""Where commits changed their files, read from `git diff -U0`. Pure."""

import re
from collections.abc import Iterable
from typing import Final

Hunk = tuple[int, int, int, int]
"""A place that a commit changed: line and count, of the old file and of the new."""

MOST: Final = 200
"""How many places of a file are kept; a file with more has none."""
_HEAD: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def hunks(lines: Iterable[str]) -> dict[str, tuple[Hunk, ...]]:
    """Return each file of a diff without context, and where it was changed.

    A file whose text is not compared (it is binary, or only its mode changed) has no
    place, and is left out where the diff does not name it.

    Args:
        lines: the diff, made with `core.quotePath=false`.
    """
    found: dict[str, list[Hunk]] = {}
    name, old, left = "", "", 0
    for line in lines:
        if left and line[:1] in ("+", "-"):
            left -= 1
        elif head := _HEAD.match(line):
            place = [1 if number is None else int(number) for number in head.groups()]
            left = place[1] + place[3]
            if name and len(found[name]) < MOST:
                found[name].append((place[0], place[1], place[2], place[3]))
        elif line.startswith("diff --git "):
            name, left = "", 0
        elif line.startswith("--- "):
            old = _name(line)
        elif line.startswith("+++ "):
            name = _name(line) or old
            found[name] = []
    return {each: tuple(places) for each, places in found.items()}


def _name(line: str) -> str:
    """Return the file of a `--- a/x` or `+++ b/x` line; empty: there is none."""
    path = line[4:].rstrip("\t")
    return "" if path == "/dev/null" else path[2:].strip('"')
