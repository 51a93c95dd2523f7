"""The warning that agents worked with walls missing, or without a box at all. Pure."""

from collections.abc import Sequence
from typing import Final

from convoy.model.state import Convoy, Task

_NO_BOX: Final = (
    '**No box:** `[runner] box = "off"` lets agents do on the machine what the user of '
    "their job may do."
)


def with_box_note(text: str, convoy: Convoy | None) -> str:
    """Return a reply about a convoy, which says so where its agents have no box."""
    if convoy is None or convoy.settings.box == "on":
        return text
    return f"{text}\n\n{_NO_BOX}"


def box_warnings(convoy: Convoy, tasks: Sequence[Task]) -> list[str]:
    """Return the lines that warn of missing walls, as Markdown; none: all stood.

    Args:
        convoy: the convoy, whose settings may have turned the box off.
        tasks: those whose work is spoken of.
    """
    if convoy.settings.box == "off":
        return ["", _NO_BOX, ""]
    told = [
        f"task {task.number}: {', '.join(task.work.missing_walls)}"
        for task in tasks
        if task.work is not None and task.work.missing_walls
    ]
    if not told:
        return []
    said = "**Walls that were missing** around the agents, by their sessions' reports"
    return ["", f"{said}: {'; '.join(told)}.", ""]
