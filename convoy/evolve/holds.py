"""What is true of a convoy after something of it was kept from going on, or let go."""

from typing import assert_never

from msgspec.structs import replace

from convoy.events import MergeRequested, MergeWithdrawn, WorkHeld, WorkReleased
from convoy.evolve.change import change_task
from convoy.state import Convoy, Task

Hold = MergeWithdrawn | MergeRequested | WorkHeld | WorkReleased


def hold_after(convoy: Convoy, event: Hold) -> Convoy:
    """Return the convoy after it, or the task, was kept back or let go.

    What is kept back has no candidate: CI need not judge it, and what stands behind it
    in the queue is built without it.
    """
    if event.task:
        return change_task(convoy, event.task, lambda task: _task_after(task, event))
    match event:
        case MergeWithdrawn():
            return replace(convoy, withdrawn=True, put_back_by="", candidate=None)
        case MergeRequested():
            return replace(convoy, withdrawn=False, put_back_by=event.by)
        case WorkHeld():
            tasks = tuple(replace(task, candidate=None) for task in convoy.tasks)
            return replace(convoy, held=event.label, candidate=None, tasks=tasks)
        case WorkReleased():
            return replace(convoy, held="")
        case _:
            assert_never(event)


def _task_after(task: Task, event: Hold) -> Task:
    match event:
        case MergeWithdrawn():
            return replace(task, withdrawn=True, put_back_by="", candidate=None)
        case MergeRequested():
            return replace(task, withdrawn=False, put_back_by=event.by)
        case WorkHeld():
            return replace(task, held=event.label, candidate=None)
        case WorkReleased():
            return replace(task, held="")
        case _:
            assert_never(event)
