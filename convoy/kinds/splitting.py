"""Whether a task that was too much for one agent is to be split. Pure."""

from convoy.kinds import kind_of
from convoy.kinds.split_kind import LEAST, room
from convoy.model.state import Convoy, Task


def can_be_split(convoy: Convoy, task: Task) -> bool:
    """Whether a task that stopped should be split, and no split of it has begun.

    Parts, tasks whose split was tried, and tasks that others are tied to are not split.
    """
    stopped = task.state == "blocked" and task.splits and task.attempt is None
    whole = kind_of(task.spec).is_work and not (task.spec.on or task.spec.part_of)
    tied = any(task.number in other.spec.on for other in convoy.tasks)
    known = convoy.settings.splitter in convoy.settings.engines
    return stopped and whole and not tied and known and room(convoy) >= LEAST
