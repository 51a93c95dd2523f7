"""A scout: it tries the task out, and ends in a report of how hard that is."""

from convoy.kinds.task_kind import TaskKind

KIND = TaskKind(
    name="scout",
    title="a scout",
    answer="report",
    keeps_tries=True,
)
