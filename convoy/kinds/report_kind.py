"""A report: a task that finds something out, and changes nothing."""

from convoy.kinds.task_kind import TaskKind

KIND = TaskKind(
    name="report",
    title="a report",
    answer="report",
    is_set_up=False,
)
