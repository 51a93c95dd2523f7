"""What a planner plugin is given: the work, the repository, the limits. Pure.

The bot writes it into the hand-off as JSON, in place of an engine's brief; the runner
adds the issue's text and passes it to the plugin's function.
"""

from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from convoy.events.task_start import TaskStarted
from convoy.model.records import PLANNER
from convoy.planner.survey import Survey

GROUP: Final = "brat.planners"
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
    """Return the words for who plans: an engine or a plugin."""
    is_plugin = name.startswith(PLANNER)
    return f"planner {name.removeprefix(PLANNER)}" if is_plugin else f"engine {name}"
