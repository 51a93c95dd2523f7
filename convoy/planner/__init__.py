"""Planning: where answers are left, and what a plugin is given. Pure.

A plugin is given the work, the repository, the limits. The bot writes them into the
hand-off as JSON, in place of an engine's brief; the runner adds the issue's text and
passes it all to the plugin's function.
"""

import re
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from convoy.events.session_events import TaskStarted
from convoy.model.records import PLANNER, TaskSpec
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


PLUGIN_GROUP: Final = "brat.planners"
"""The entry point group of planners."""


class Asked(Struct, frozen=True, kw_only=True):
    """The argument of a planner's function. All its texts are untrusted."""

    text: str = ""
    """The issue: its title, an empty line, its text."""
    faults: tuple[str, ...] = ()
    """What was wrong with its earlier answers, oldest first."""
    limit: int
    """The most tasks allowed."""
    engines: dict[str, str]
    """The engines that tasks may have: what each is, is good at, and has done so
    far."""
    survey: Survey
    """What is known about the repository; of its folders only those at the top."""


def asked(started: TaskStarted) -> str:
    """Return the JSON that the plugin is given in this session.

    Raises:
        msgspec.MsgspecError: the session was not handed off for a plugin that plans.
    """
    told = msgspec.json.decode(started.brief, type=Asked)
    told = replace(told, text=started.instructions, faults=started.notes)
    return msgspec.json.encode(told).decode()


def planned_by(name: str) -> str:
    is_plugin = name.startswith(PLANNER)
    return f"planner {name.removeprefix(PLANNER)}" if is_plugin else f"engine {name}"


def not_planned_by(name: str, why: str) -> str:
    return f"the {planned_by(name)} did not make a plan: {shortened(why, 300)}"


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
