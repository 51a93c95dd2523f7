"""Lets the tasks of a long plan go in waves: so many are under way at a time. Pure.

A task lets the one go first that stands a wave's length before it. That is a turn and
no need: it ends when the other has landed, was given up, or waits for a person.
"""

from typing import Final

from msgspec.structs import replace

from convoy.model.records import TaskSpec, Wait
from convoy.model.task_graph import order

MOST_TASKS: Final = 500
"""So many tasks one convoy may have, however they are divided."""


def in_waves(tasks: tuple[TaskSpec, ...], length: int) -> tuple[TaskSpec, ...]:
    """Return a plan's tasks, with an order where they are more than one wave.

    Args:
        tasks: without a circle.
        length: how many tasks a wave has.
    """
    if len(tasks) <= length:
        return tasks
    placed = order(tasks)
    ahead = dict(zip(placed[length:], placed, strict=False))
    wave = {number: at // length + 1 for at, number in enumerate(placed)}
    return tuple(
        _behind(task, ahead[task.number], wave[task.number], length)
        if task.number in ahead
        else task
        for task in tasks
    )


def count(tasks: int, length: int) -> int:
    """Return how many waves a number of tasks makes."""
    return -(-tasks // length)


def _behind(task: TaskSpec, on: int, wave: int, length: int) -> TaskSpec:
    if on in task.after:
        return task
    why = f"it is of wave {wave}, and {length} tasks are under way at a time"
    after = tuple(sorted({*task.after, on}))
    return replace(task, after=after, waits=(*task.waits, Wait(on, why, overlap=True)))
