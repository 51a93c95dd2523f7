"""The plan itself, task 0: an engine turns the issue into tasks."""

from convoy.kinds.task_kind import TaskKind
from convoy.planner import FILE

KIND = TaskKind(
    name="plan",
    title="a plan",
    answer="plan",
    answer_file=FILE,
    is_set_up=False,
    takes_notes=False,
    in_templates=False,
)
