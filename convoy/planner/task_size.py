"""How large a task is, before anybody has tried it. Pure."""

from typing import Final, Literal

from convoy.model.records import Scope, TaskSpec
from convoy.planner.own_words import own_words
from convoy.text.counts_and_times import counted

Size = Literal["small", "medium", "large"]

SMALL: Final = 6
MEDIUM: Final = 20
WORDS: Final = 60
"""So many words of instructions count as much as one file."""
CHANGES: Final = 25
"""So many earlier changes to its files count as much as one file more."""


def points(task: TaskSpec, scope: Scope | None) -> int:
    """Return a task's size: its files, their earlier changes, and its words."""
    words = len(own_words(task).split()) // WORDS
    if scope is None:
        return max(1, words)
    files = scope.files + len(scope.creates)
    return max(1, files + scope.changes // CHANGES + words)


def size(task: TaskSpec, scope: Scope | None) -> Size:
    """Return the same in a word."""
    found = points(task, scope)
    return "small" if found <= SMALL else "medium" if found <= MEDIUM else "large"


def size_reason(task: TaskSpec, scope: Scope | None) -> str:
    """Return what its size rests on, in a few words."""
    words = counted(len(own_words(task).split()), "word")
    if scope is None:
        paths = "its files were not counted" if task.paths else "no paths declared"
        return f"{words} of instructions, {paths}"
    files = counted(scope.files + len(scope.creates), "file")
    return f"{files}, {counted(scope.changes, 'earlier change')} to them, {words}"
