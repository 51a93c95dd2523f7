"""Text from outside, made fit to be stored, shown and cut."""

import re

TEXT_CHARS = 262_144
"""Longer than any forge's issue; what is beyond it is not read."""

_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
# Control characters but tab and newline, surrogates, and what is there but cannot be
# seen: zero-width, bidirectional, tag and variation characters.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069"
    "\ufe00-\ufe0f\ufeff\ud800-\udfff\U000e0000-\U000e0fff]"
)


def clean(text: str) -> str:
    """Return `text` without control codes and invisible characters; safe to do twice.

    Its lines end in newlines only, and it can be written as UTF-8.
    """
    text = text[:TEXT_CHARS].replace("\r\n", "\n").replace("\r", "\n")
    return _UNSEEN.sub("", _ANSI.sub("", text))


def cut(text: str, room: int) -> str:
    """Return at most `room` (1 or more) characters; `…` shows that it was cut."""
    return text if len(text) <= room else f"{text[: room - 1].rstrip()}…"
