"""What is true after an agent has left something for others."""

from msgspec.structs import replace

from convoy.events import TaskNoted
from convoy.evolve.change import change_task
from convoy.notes import added
from convoy.state import Convoy, Task


def noted(convoy: Convoy, event: TaskNoted) -> Convoy:
    """Return the convoy with the notes at their task and on the scratchpad."""
    shared = tuple(f"task {event.task}: {line}" for line in event.shared)
    convoy = replace(convoy, scratchpad=added(convoy.scratchpad, shared))
    return change_task(convoy, event.task, lambda task: _task(task, event))


def _task(task: Task, event: TaskNoted) -> Task:
    return replace(
        task,
        learned=event.notes or task.learned,
        followups=(*task.followups, *event.followups),
    )
