"""What a planner that is a plugin is asked: the work, the repository, the limits. Pure.

The bot writes it into the hand-off as JSON, where an engine finds its brief; the runner
puts the issue's text into it, and hands it to the plugin's function.
"""

from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from convoy.events import PLANNER, TaskStarted
from convoy.planner.survey import Survey

GROUP: Final = "brat.planners"
"""The entry points of planners."""


class Asked(Struct, frozen=True, kw_only=True):
    """What a planner's function gets. All its texts were written by others."""

    text: str = ""
    """The issue: its title, an empty line, its text."""
    faults: tuple[str, ...] = ()
    """What was wrong with its earlier answers, oldest first."""
    limit: int
    """The most tasks there may be."""
    engines: dict[str, str]
    """The engines that tasks may have: what each is, is good at, and has done."""
    survey: Survey
    """What is known of the repository, with its folders at the top only."""


def asked(started: TaskStarted) -> str:
    """Return the JSON of what the plugin is asked in this session.

    Raises:
        msgspec.MsgspecError: the session was not handed off for a plugin that plans.
    """
    told = msgspec.json.decode(started.brief, type=Asked)
    told = replace(told, text=started.instructions, faults=started.notes)
    return msgspec.json.encode(told).decode()


def planned_by(name: str) -> str:
    """Return for people who plans: an engine or a plugin."""
    is_plugin = name.startswith(PLANNER)
    return f"planner {name.removeprefix(PLANNER)}" if is_plugin else f"engine {name}"
