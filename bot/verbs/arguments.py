"""The arguments of verbs: how each kind is read and written."""

import re
from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from convoy.model.task_graph import declared_path
from convoy.text import seconds_in
from grite.resource import BOT, validate

LOCK_TTL_S: Final = 3600
LONGEST_LOCK_S: Final = 24 * 3600
LONGEST_RESOURCE: Final = 400

_TASK = re.compile(r"(?:task-)?([1-9][0-9]{0,8})", re.IGNORECASE)
_SHA = re.compile(r"[0-9a-f]{7,64}", re.IGNORECASE)
_PATTERN = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_ENGINE = re.compile(r"[A-Za-z0-9_-]{1,40}")


Reader = Callable[[str], object]
"""Returns a word's value, or raises `ValueError` with the end of "`word` …"."""


class Argument(Struct, frozen=True, kw_only=True):
    """One word or option of a verb."""

    name: str
    """The option's key, and the request's argument that it fills."""
    read: Reader
    form: str
    """The argument in a usage line: `<task>`, `ttl=1h`, or a fixed word."""
    needed: bool = True
    write: Callable[[Any], str] = str
    """Returns the word for a value, as `read` takes it."""

    @property
    def usage(self) -> str:
        """The form, in brackets when it may be left out."""
        return self.form if self.needed else f"[{self.form}]"


def task(word: str) -> int:
    """Read `task-3` or `3`."""
    if found := _TASK.fullmatch(word):
        return int(found[1])
    if word.startswith("#"):
        raise ValueError("is an issue's number; write a task as `task-3` or `3`")
    raise ValueError("is no task, such as `task-3` or `3`")


def sha(word: str) -> str:
    """Read a commit's id or its beginning; return it in lower case."""
    if _SHA.fullmatch(word):
        return word.lower()
    raise ValueError("is no commit: write at least the first 7 digits of its id")


def path(word: str) -> str:
    """Read a path of the repository."""
    try:
        return declared_path(word)
    except ValueError as error:
        raise ValueError("is no path inside the repository") from error


def engine(word: str) -> str:
    """Read the name of an engine; a later check finds out whether it exists."""
    if _ENGINE.fullmatch(word):
        return word
    raise ValueError("is no engine's name: it has at most 40 letters, digits, - and _")


def pattern(word: str) -> str:
    """Read the name of a pattern; a later check finds out whether it exists."""
    if _PATTERN.fullmatch(word):
        return word
    raise ValueError("is no pattern's name, such as `spec`: `brat workflow list`")


def priority(word: str) -> int:
    """Read `p0` (first) to `p2` (last)."""
    if word.lower() in ("p0", "p1", "p2"):
        return int(word[1])
    raise ValueError("is no priority: write `p0`, `p1` or `p2`")


def resource(word: str) -> str:
    """Read the name of a resource that a person may lock."""
    try:
        validate(word)
    except ValueError as error:
        raise ValueError(
            "is no resource, such as `path:src/`, `port:5432`, `service:mail`, "
            "`issue:7` or `repo:global`"
        ) from error
    if word == BOT:
        raise ValueError("is the bot's own")
    if len(word) > LONGEST_RESOURCE:
        raise ValueError(f"is longer than {LONGEST_RESOURCE} characters")
    return word


def ttl(word: str) -> int:
    """Read a length of time, in seconds."""
    try:
        length_s = seconds_in(word)
    except ValueError:
        length_s = 0
    if not 1 <= length_s <= LONGEST_LOCK_S:
        raise ValueError(
            "is no length of time from 1s to 24h, such as `30m` or `1h30m`"
        )
    return length_s


def fixed(expected: str) -> Reader:
    """Return a reader that accepts only the expected word; its value is True."""

    def read(word: str) -> bool:
        if word.lower() != expected:
            raise ValueError(f"is not `{expected}`")
        return True

    return read


def _task_word(number: int) -> str:
    return f"task-{number}"


TASK: Final = Argument(name="task", read=task, form="<task>", write=_task_word)
ANY_TASK: Final = Argument(
    name="task", read=task, form="<task>", needed=False, write=_task_word
)


def fixed_word(word: str, *, needed: bool = True) -> Argument:
    """Return the argument for one fixed word."""
    return Argument(
        name=word, read=fixed(word), form=word, needed=needed, write=lambda _: word
    )


ALL: Final = fixed_word("all", needed=False)
