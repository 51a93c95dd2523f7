"""Hostile text in our Markdown: no mark, name or link of it works on a forge."""

from typing import Final

from convoy.text.plaintext import clean

LINE_CHARS: Final = 160
LIST_CHARS: Final = 60_000
"""GitHub takes a text of 65536 characters."""
_HARMLESS: Final = str.maketrans(
    {mark: f"\\{mark}" for mark in "\\|`[*_~"}
    # GitHub looks for names and numbers when the escapes are gone already, and `brat`
    # for its markers before.
    | {"@": "@\u200b", "#": "#\u200b", "&": "&amp;", "<": "&lt;"}
)


def harmless(text: str) -> tuple[str, ...]:
    """Return hostile text as harmless lines, whole."""
    lines = clean(text).strip().split("\n")
    return tuple(line.strip().translate(_HARMLESS) for line in lines)


def inline(text: str) -> str:
    """Return hostile text as one harmless line of a table."""
    return " ".join(clean(text).split())[:LINE_CHARS].translate(_HARMLESS)


def fitting(lines: list[str], more: str, chars: int = LIST_CHARS) -> list[str]:
    """Return as many lines as fit into a text, and how many are left out."""
    left = chars
    for number, line in enumerate(lines):
        left -= len(line) + 1
        if left < 0:
            return [*lines[:number], more.format(f"and {len(lines) - number} more")]
    return lines
