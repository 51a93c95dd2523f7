"""Planning: where answers are left, and what is known of a repository. Pure."""

import re
from typing import Final

from msgspec import Struct

from convoy.model.records import TaskSpec
from convoy.text import shortened

FILE: Final = "plan.json"
"""The file in which the engine leaves its plan, at the top of its folder."""
REPLY: Final = "answer.json"
"""The file in which it leaves any other answer, such as a report."""
ANSWER_CHARS: Final = 200_000


class Survey(Struct, frozen=True, kw_only=True):
    """What is known about a repository without running anything in it."""

    files: int
    folders: tuple[tuple[str, int], ...]
    """Folders and how many files lie below each, by name."""
    languages: tuple[tuple[str, int], ...]
    """Endings of files and how many, the most frequent first."""
    tests: tuple[str, ...] = ()
    """The commands that run its tests, the most likely first."""
    owners: str = ""
    """Its CODEOWNERS file, cut."""
    busy: tuple[str, ...] = ()
    """The files that changed most in recent commits."""
    together: tuple[tuple[str, str, int], ...] = ()
    """Files that changed in the same commits, and in how many commits."""
    used: tuple[tuple[str, int], ...] = ()
    """The files that most others import, and how many do."""
    uses: tuple[tuple[str, str, int], ...] = ()
    """Folders that import from others, and how many of their files do."""


def not_planned_by(name: str, why: str) -> str:
    return f"the engine {name} did not make a plan: {shortened(why, 300)}"


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
