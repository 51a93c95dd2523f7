"""Knows an issue that says too little to begin, and what to ask its author. Pure.

By form alone: a few words without a list, code, a path or a number. A short issue that
names its place is clear enough.
"""

import re
import unicodedata
from typing import Final

from convoy.planner.own_words import paths_in
from convoy.text.plaintext import clean

FEWEST_WORDS: Final = 12
"""An issue with so many words says enough."""
_HIDDEN: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_CLEAR: Final = re.compile(
    r"^\s*(?:[-*+]|\d{1,9}[.)])\s|`|\d|https?:|@\w|!\[", re.MULTILINE
)
_EACH_A_WORD: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_WORD: Final = re.compile(r"[^\W_]+")
_WISH: Final = re.compile(r"\b(?:should|instead|expected|must|when)\b", re.IGNORECASE)

CHANGE: Final = "What happens or is missing today, and what should be so instead?"
PLACE: Final = "Where is it: which page, command, file or function?"
PROOF: Final = "How can one see that it is done: an example, a command, a test?"


def questions(title: str, text: str) -> tuple[str, ...]:
    """Return what to ask the author of an issue; none: it says enough to begin.

    Args:
        title: the issue's.
        text: its body, Markdown by anybody.
    """
    body = _HIDDEN.sub("", clean(text))
    whole = f"{clean(title)}\n{body}"
    if _CLEAR.search(whole) or paths_in(whole) or _words(whole) >= FEWEST_WORDS:
        return ()
    asked = () if _WISH.search(whole) else (CHANGE,)
    return (*asked, PLACE, PROOF)


def _words(text: str) -> int:
    """Return how many words a text has; two letters of some scripts count as one."""
    text = unicodedata.normalize("NFKC", text)
    letters = len(_EACH_A_WORD.findall(text))
    return letters // 2 + len(_WORD.findall(_EACH_A_WORD.sub(" ", text)))
