"""What an agent is told of a conflict: what both sides were for, and did. Pure.

All of it was written by others, and is data.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from convoy.model.state import Task
from convoy.text import clean, cut

DIFF_CHARS: Final = 12_000
"""How much of each side's patch is told."""
_INTENT_CHARS: Final = 2_000
_TASKS: Final = 3
"""The most other tasks whose purpose is told."""
_PATHS: Final = 20
_TOLD: Final = """\
### The files that conflict

{paths}

### What landed in them meanwhile

{commits}
{others}
{landed}

### What this task's own work changed in them

{own}
"""
_TASK: Final = "\nTask {number} was asked for this:\n\n{title}\n\n{instructions}\n"


class Sides(Struct, frozen=True, kw_only=True):
    """Both sides of a conflict, in the files that conflict."""

    paths: tuple[str, ...]
    commits: tuple[str, ...]
    """What landed: commits and their subjects, the newest first."""
    others: tuple[Task, ...]
    """The tasks that landed it, the newest first; not all of it is a task's."""
    landed: str
    """What landed, as a patch."""
    own: str
    """What the task's own work changed, as a patch."""


def told(sides: Sides) -> str:
    """Return what an agent that makes work fit is told of both sides."""
    tasks = (
        _TASK.format(
            number=task.number,
            title=task.spec.title,
            instructions=cut(task.spec.instructions.strip(), _INTENT_CHARS),
        )
        for task in sides.others[:_TASKS]
    )
    text = _TOLD.format(
        paths=_listed(sides.paths[:_PATHS]),
        commits=_listed(sides.commits),
        others="".join(tasks),
        landed=cut(sides.landed.strip(), DIFF_CHARS),
        own=cut(sides.own.strip(), DIFF_CHARS),
    )
    return clean(text)


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
