"""A split: a task that one agent could not do is replanned as several smaller ones.

Like a review, the split is a task of its own beside the one it is for: it has its own
engine, attempts and money, and if the bot stops, the state still owes it.
"""

from typing import Final

from convoy.events import Event
from convoy.events.task_ends import TaskDropped
from convoy.events.task_queue import TaskBlocked
from convoy.kinds.task_kind import Relief, Stop, Target, TaskKind
from convoy.model.state import Convoy, State, Task

MAYOR: Final = "the mayor"
"""The asker that a split's task names."""
LEAST: Final = 2
"""How many parts a task is split into; one would be the same task again."""
MOST: Final = 8


def room(convoy: Convoy) -> int:
    """Return how many parts a task may become; its own place becomes free."""
    counted = [t for t in convoy.tasks if t.state != "dropped" and not is_split(t)]
    return min(MOST, convoy.settings.tasks - len(counted) + 1)


def is_split(task: Task) -> bool:
    """Whether a task splits another one."""
    return task.spec.kind == "split"


def being_split(convoy: Convoy, task: Task) -> Task | None:
    """Return the task that is splitting a task that stopped."""
    found = (each for each in convoy.tasks if is_split(each) and _splits(each, task))
    return next(found, None)


def _splits(split: Task, task: Task) -> bool:
    """Whether a split is under way for a task."""
    is_for_it = task.number in split.spec.on and not split.settled
    return is_for_it and task.state == "blocked"


def _settles_with(_convoy: Convoy, split: Task, other: Task) -> str:
    is_whole = other.number in split.spec.on and not split.settled
    return "which it was to split" if is_whole else ""


def _relieves(_convoy: Convoy, split: Task, blocked: Task) -> Relief | None:
    if not _splits(split, blocked):
        return None
    return Relief(
        who=f"task {split.number} to split it",
        why=f"task {split.number} splits it into smaller ones",
        replaces=True,
    )


def _way_out(
    _state: State, convoy: Convoy, split: Task, stop: Stop
) -> tuple[Event, ...] | None:
    """Drop the split and ask a person about the whole task after all."""
    dropped = TaskDropped(convoy=convoy.name, task=split.number, why=stop.why)
    task = convoy.task(split.spec.on[0])
    if task is None or task.state != "blocked":
        return (dropped,)
    told = f"{task.why}; it was not split: {stop.why}"
    return (dropped, TaskBlocked(convoy=convoy.name, task=task.number, why=told))


def _done_by_others(_convoy: Convoy, _split: Task) -> bool:
    return True


KIND = TaskKind(
    name="split",
    title="a split",
    answer="plan",
    runs_as="plan",
    is_set_up=False,
    takes_notes=False,
    in_templates=False,
    target=Target(kind="work", says="splits one task that is work"),
    settles_with=_settles_with,
    relieves=_relieves,
    way_out=_way_out,
    done_by_others=_done_by_others,
)
