"""Text from outside, made fit to be stored, shown and cut."""

import re

TEXT_CHARS = 262_144
"""Longer than any forge's issue; what is beyond it is not read."""

_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
# What is there but cannot be seen: control characters but tab and newline, surrogates,
# format characters (bidirectional, zero-width, tags), variation selectors, fillers, and
# what Unicode says is ignored where it is unknown.
# https://www.unicode.org/Public/16.0.0/ucd/DerivedCoreProperties.txt
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f"
    "\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def clean(text: str) -> str:
    """Return `text` without control codes and invisible characters; safe to do twice.

    Its lines end in newlines only, and it can be written as UTF-8. What Markdown hides
    stays: `bot.markdown.cleaning` takes that away too.
    """
    text = text[:TEXT_CHARS].replace("\r\n", "\n").replace("\r", "\n")
    return _UNSEEN.sub("", _ANSI.sub("", text))


def cut(text: str, room: int) -> str:
    """Return at most `room` (1 or more) characters; `…` shows that it was cut."""
    return text if len(text) <= room else f"{text[: room - 1].rstrip()}…"


def full_stop(text: str) -> str:
    """Return `text` as a sentence that ends once."""
    return text if text.endswith(("?", "!", "…")) else f"{text.rstrip('. ')}."


def shortened(text: str, room: int) -> str:
    """Return at most `room` characters, cut between words where there is a blank."""
    if len(text) <= room:
        return text
    words = text[: room - 1].rsplit(" ", 1)[0].rstrip(" ,;:.")
    return f"{words or text[: room - 1]}…"
