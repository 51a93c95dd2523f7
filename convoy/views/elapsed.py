"""How long a convoy's work took, and what working side by side saved."""

from convoy.model.state import Convoy


def worked_s(convoy: Convoy) -> float:
    """Return how long the convoy's sessions took one after the other, in seconds."""
    return sum(task.worked_ms for task in convoy.tasks) / 1000


def saved_s(convoy: Convoy) -> float:
    """Return how much shorter the convoy's sessions were side by side, in seconds.

    Counted from the first start to the last end of those that have ended; never less
    than 0.
    """
    ended = [task for task in convoy.tasks if task.begun_at and task.ended_at]
    if not ended:
        return 0.0
    first = min(task.begun_at for task in ended)
    last = max(task.ended_at for task in ended)
    worked_ms = sum(task.worked_ms for task in ended)
    return max(0, worked_ms - (last - first)) / 1000
