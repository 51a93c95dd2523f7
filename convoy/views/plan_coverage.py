"""Which task of a plan does what the issue asks for, by form alone. Pure.

It compares list items, paths and words; it understands nothing. What it cannot place is
named as left out, so that a person looks.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, Literal

from msgspec import Struct

from convoy.model.records import TaskSpec
from convoy.planner.own_words import own_words, paths_in
from convoy.views.requirements import requirements
from grite.resource import overlaps

HOW: Final = (
    "compared by list items, paths and words only: a sentence may be background"
)
ENOUGH: Final = 0.5
"""The share of a requirement's words that a task must have."""
_STEM: Final = 5
"""How much of a long word has to agree, so that `tokens` is found as `token`."""
_WORD: Final = re.compile(r"[^\W_]+")
_COMMON_WORDS: Final = (
    "a about after again all also an and any are as at be because been before "
    "both but by can could do does done each for from had has have how i if in "
    "into is it its just make may more most must need needs new no not now of on "
    "one only or other our out please same should so some such than that the "
    "their them then there these they this to too under up use used using was we "
    "were what when where which while who will with would you your "
)
_COMMON: Final = frozenset(_COMMON_WORDS.split())

By = Literal["item", "path", "words", "nothing"]


class Covered(Struct, frozen=True, kw_only=True):
    """One requirement, and who does it."""

    text: str
    tasks: tuple[int, ...] = ()
    """Empty: none, as far as can be seen."""
    by: By = "nothing"
    """What says so."""


class _Told(Struct, frozen=True):
    """What of a task is compared."""

    number: int
    title: str
    whole: str
    words: frozenset[str]
    paths: tuple[str, ...]


@lru_cache(maxsize=64)  # a comment is made again in every tick
def coverage(text: str, tasks: tuple[TaskSpec, ...]) -> tuple[Covered, ...]:
    """Return each requirement of an issue's text with the tasks that do it.

    Args:
        text: the issue's.
        tasks: the plan's, without those that were given up.
    """
    told = [_told(task) for task in tasks]
    return tuple(_covered(each, told) for each in requirements(text))


def _covered(text: str, tasks: list[_Told]) -> Covered:
    said, words, named = _plain(text), _words(text), paths_in(text)
    if found := [t.number for t in tasks if _is_item(said, t)]:
        return Covered(text=text, tasks=tuple(found), by="item")
    if found := [t.number for t in tasks if _share_path(named, t.paths)]:
        return Covered(text=text, tasks=tuple(found), by="path")
    shares = {t.number: len(words & t.words) / len(words) for t in tasks if words}
    best = max(shares.values(), default=0.0)
    if best < ENOUGH:
        return Covered(text=text)
    found = [number for number, share in shares.items() if share == best]
    return Covered(text=text, tasks=tuple(found), by="words")


def _told(task: TaskSpec) -> _Told:
    own = own_words(task)
    whole = f"{task.title}\n{own}"
    paths = (*task.paths, *paths_in(whole))
    said = f"{whole}\n{task.why}\n{task.acceptance}"
    return _Told(task.number, _plain(task.title), _plain(own), _words(said), paths)


def _is_item(said: str, task: _Told) -> bool:
    """Whether a task is the item, or was told it word for word."""
    if not said:
        return False
    title = task.title.rstrip("… ")
    is_title = bool(title) and (said == title or said.startswith(f"{title} "))
    return is_title or f" {said} " in f" {task.whole} "


def _share_path(named: Iterable[str], paths: tuple[str, ...]) -> bool:
    return any(
        overlaps(f"path:{one}", f"path:{other}") for one in named for other in paths
    )


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _words(text: str) -> frozenset[str]:
    found = (word for word in _WORD.findall(text.casefold()) if word not in _COMMON)
    return frozenset(word[:_STEM] for word in found)
