"""Which files change in the same commits. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable
from itertools import combinations
from typing import Final

SWEEPING: Final = 30
"""A commit with more files than this says nothing about any two of them."""
OFTEN: Final = 3
"""Fewer common commits than this are chance."""

Past = Iterable[tuple[str, ...]]
"""The files of each commit, the newest first."""


def pairs(past: Past, files: Collection[str]) -> tuple[tuple[str, str, int], ...]:
    """Return pairs of files that changed together, and in how many commits, most first.

    Args:
        past: what the last commits changed.
        files: what is still there.
    """
    counted: Counter[tuple[str, str]] = Counter()
    for commit in past:
        if len(commit) <= SWEEPING:
            here = sorted(name for name in commit if name in files)
            counted.update(combinations(here, 2))
    often = (each for each in counted.most_common() if each[1] >= OFTEN)
    return tuple((one, other, count) for (one, other), count in often)
