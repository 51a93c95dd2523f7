"""Why a plan's tasks are in their order, and where those at once may collide. Pure."""

from collections.abc import Iterator

from convoy.model.records import Overlap, TaskSpec
from convoy.model.state import Convoy
from convoy.model.task_graph import waits


def because(task: TaskSpec, on: int) -> str:
    """Return why a task waits for another one that it is to wait for."""
    why = (wait.why for wait in task.waits if wait.on == on)
    return next(why, "the plan says so")


def edges(task: TaskSpec) -> tuple[str, ...]:
    """Return for each task that this one comes after why it does."""
    return tuple(
        f"it comes after task {number}: {because(task, number)}"
        for number in task.after
    )


def collisions(convoy: Convoy) -> tuple[str, ...]:
    """Return which tasks may collide that may run at once, the likeliest first."""
    return tuple(
        f"tasks {each.one} and {each.other}: {each.chance:.0%}{_where(each)}"
        for each in risky(convoy)
    )


def risky(convoy: Convoy) -> Iterator[Overlap]:
    """Give what was foreseen of tasks that are not settled and not in order."""
    specs = {task.number: task.spec for task in convoy.tasks}
    left = {task.number for task in convoy.tasks if not task.settled}
    for each in convoy.overlaps:
        one, other = each.one, each.other
        ordered = waits(specs, one, other) or waits(specs, other, one)
        if left.issuperset((one, other)) and not ordered:
            yield each


def _where(overlap: Overlap) -> str:
    first, more = overlap.files[:3], len(overlap.files) - 3
    if not first:
        return ""
    return f", in {', '.join(first)}" + (f" and {more} more" if more > 0 else "")
