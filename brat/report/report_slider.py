"""The slider of a report: the convoy after each step, and the script that shows it.

The page's policy allows this one script, by its hash; nothing of strangers is in it.
"""

import base64
from collections.abc import Iterable
from hashlib import sha256
from importlib.resources import files
from typing import Final

from markupsafe import Markup
from msgspec import Struct

from convoy.log.record import LogStep
from convoy.model.state import Convoy, TaskState
from convoy.text import clock

_TEXT: Final = (files("brat.report") / "report_slider.js").read_text(encoding="utf-8")
SCRIPT: Final = Markup(_TEXT)  # noqa: S704  our own file
HASH: Final = base64.b64encode(sha256(_TEXT.encode()).digest()).decode()
SAID: Final = 8
"""So many sentences of a step are shown at most."""


class Moment(Struct, frozen=True):
    """A convoy after one step of its log."""

    when: str
    convoy: str
    """Its state."""
    tasks: dict[int, TaskState]
    said: tuple[str, ...]


def moments(steps: Iterable[tuple[LogStep, Convoy]]) -> tuple[Moment, ...]:
    """Return what the slider shows at each step."""
    return tuple(
        Moment(
            clock(step.at),
            convoy.state,
            {task.number: task.state for task in convoy.tasks},
            step.said[:SAID],
        )
        for step, convoy in steps
    )
