"""What the kinds of task have in common. Pure."""

from typing import Final

from convoy.events import Kind, TaskSpec

REPORTING: Final[frozenset[Kind]] = frozenset({"report", "scout"})
"""They end in a report, and land nothing."""


def is_last(task: TaskSpec, tasks: tuple[TaskSpec, ...]) -> bool:
    """Whether no task of the plan waits for this one."""
    return not any(task.number in other.after for other in tasks)
