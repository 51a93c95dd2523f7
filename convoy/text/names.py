"""Names of convoys: short, readable, and always good as one part of a git branch.

A name is the title's letters and digits, a dash, and the issue's number; it is never
longer than 40 characters, because it stands in branches, labels and run names.
"""

import re
from collections.abc import Collection
from itertools import count
from unicodedata import combining, normalize

LONGEST = 40
"""Characters of a name, with number and suffix."""

_APOSTROPHES = re.compile("['\u2019\u02bc]")
_OTHERS = re.compile(r"[^a-z0-9]+")


def slug(title: str) -> str:
    """Return the title in `[a-z0-9-]`, not cut; empty when it has no usable letter.

    Accents are dropped (`é` is `e`); letters of other scripts only separate words.
    """
    folded = normalize("NFKD", _APOSTROPHES.sub("", title)).casefold()
    letters = "".join(letter for letter in folded if not combining(letter))
    return _OTHERS.sub("-", letters).strip("-")


def convoy_name(title: str, issue: int, taken: Collection[str]) -> str:
    """Return `<slug>-<issue>`, or with `-2`, `-3` behind it when that is taken.

    Args:
        title: the issue's title; one without a usable letter gives `convoy-<issue>`.
        issue: its number, from 1.
        taken: the names of all convoys there ever were.
    """
    words = slug(title) or "convoy"
    tails = (f"-{issue}" if turn == 1 else f"-{issue}-{turn}" for turn in count(1))
    names = (_cut(words, LONGEST - len(tail)) + tail for tail in tails)
    return next(name for name in names if name not in taken)


def _cut(words: str, room: int) -> str:
    """Shorten to `room` characters, between two words where there is such a place."""
    if len(words) <= room:
        return words
    whole, dash, _ = words[: room + 1].rpartition("-")
    return whole if dash else words[:room]
