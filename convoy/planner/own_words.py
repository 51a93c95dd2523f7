"""What a task itself is told, without what it shares with the others. Pure."""

import re
from typing import Final

from convoy.model.records import TaskSpec

_CONTEXT: Final = "\n\nThis is task {number} of the issue "
"""How `tasklist` begins what all tasks of a list are told; a test compares."""
_PATH: Final = re.compile(r"(?<![\w/.-])\.?\w[\w.-]*(?:/[\w.-]+)*/?|\.\w[\w./-]*")


def own_words(task: TaskSpec) -> str:
    """Return a task's instructions without the context of its task list."""
    before, found, _ = task.instructions.rpartition(_CONTEXT.format(number=task.number))
    return before if found else task.instructions


def paths_in(text: str) -> tuple[str, ...]:
    """Return the words of a text that look like paths: with a slash, or an ending."""
    words = (word.rstrip(".") for word in _PATH.findall(text))
    return tuple(dict.fromkeys(word for word in words if _is_path(word)))


def _is_path(word: str) -> bool:
    if "/" in word.strip("/"):
        return True
    stem, dot, ending = word.strip("/").rpartition(".")
    return bool(dot and ending.isalpha() and len(stem) != 1) or word.endswith("/")
