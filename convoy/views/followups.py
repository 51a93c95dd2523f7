"""Further work that agents saw and that no task does yet."""

from collections.abc import Iterator

from msgspec import Struct

from convoy.model.state import Convoy


class Further(Struct, frozen=True):
    """One piece of it, in its agent's words."""

    task: int
    """Whose agent saw it."""
    title: str
    why: str
    """Why it became no task by itself; empty: it was not to."""


def further(convoy: Convoy) -> Iterator[Further]:
    """Give what a person may still add to a convoy, oldest first."""
    if convoy.ended or convoy.settled:
        return
    titles = {task.spec.title for task in convoy.tasks}
    for task in convoy.tasks:
        for each in task.followups:
            if not each.added and each.title not in titles:
                yield Further(task.number, each.title, each.why)
