"""Hostile text in our Markdown: no mark, name or link of it works on a forge."""

from typing import Final

from convoy.text.plaintext import clean

LINE_CHARS: Final = 160
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


def fitting(lines: list[str], more: str, chars: int) -> list[str]:
    """Return as many lines as fit, and in `more` how many are left out.

    Args:
        lines: the lines, whole.
        more: has a place for "and 3 more", and says where those are.
        chars: the most characters.
    """
    left = chars
    for number, line in enumerate(lines):
        left -= len(line) + 1
        if left < 0:
            return [*lines[:number], more.format(f"and {len(lines) - number} more")]
    return lines
