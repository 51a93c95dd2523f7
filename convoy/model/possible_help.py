"""Which tasks may bring what work lacks that CI finds red. Pure."""

from convoy.model.doubt import Doubt
from convoy.model.state import Convoy, Task


def may_help(convoy: Convoy, number: int, doubt: Doubt | None) -> tuple[Task, ...]:
    """Return the tasks that may bring what task `number` lacks, in the plan's order.

    A plan lists first what others need. Where the work is red once more after its
    agent had it back, that is not relied on: any other task may.
    """
    is_any = doubt is not None and doubt.is_again
    return tuple(
        task
        for task in convoy.tasks
        if task.number < number or (is_any and task.number != number)
    )


def landed_help(convoy: Convoy, number: int, doubt: Doubt) -> int:
    """Return how many of them have landed."""
    return sum(task.landed is not None for task in may_help(convoy, number, doubt))
