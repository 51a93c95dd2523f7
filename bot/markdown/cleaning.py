"""Makes text from outside fit to be kept and shown to a model. Pure.

`convoy.text.clean` removes characters that no screen shows: enough for one
line of a table, and for the planner. `clean` here also removes text that a *page* does
not show, so that a model reads no more than people do. A text of 65,000 characters
built to be slow takes some seconds: async callers use a thread.
"""

import re
from typing import Final
from unicodedata import normalize

from bot.markdown.visible_text import visible
from convoy import text as plaintext
from convoy.log import broken_up

CUT_NOTE: Final = "\n\n(The text goes on; it was too long and is cut here.)"

_DATA_URL: Final = re.compile(
    r"\bdata:(?=[\w.+-]+/|;)[^\s,]{1,100},[^\s)\"'<>]*", re.IGNORECASE
)


def clean(text: str, *, limit: int) -> str:
    """Return the visible part of a Markdown text; safe to do twice.

    Code stays as it is written. Removed: unseen characters, comments, tags and their
    attributes, alternative texts, titles, labels, and the data in `data:` addresses.

    Args:
        text: as it comes from the forge.
        limit: the most characters to return. A longer text ends at the end of a line,
            and a note says so where there is room for one.
    """
    shown = _settled(text)
    if len(shown) <= limit and len(text) <= plaintext.TEXT_CHARS:
        return shown
    note = CUT_NOTE if len(CUT_NOTE) <= limit else ""
    room = limit - len(note)
    while room > 0:
        whole = _settled(_whole_lines(shown, room) + note)
        if len(whole) <= limit:
            return whole
        room -= len(whole) - limit  # a cut can open what was closed: a note says so
    return note


def _settled(text: str) -> str:
    """Clean the text until it no longer changes."""
    while (cleaner := _once(text)) != text:
        text = cleaner
    return text


def _once(text: str) -> str:
    seen = normalize("NFC", plaintext.clean(text))
    return broken_up(_DATA_URL.sub("data:\u2026", visible(seen)))


def _whole_lines(text: str, room: int) -> str:
    """Return the lines that fit, or the beginning of the first line."""
    lines = text[: room + 1].rpartition("\n")[0]
    return lines.rstrip() or text[:room]
