"""Rivals: tasks that try the same, and the choice of the one that lands. Pure.

CI judges each rival's work as it is. One that it finds green stays in the race, one
that it finds red, or that brings no work, is out: it is blocked, and nobody is called
for it while others are left.
"""

from collections.abc import Iterable
from typing import Final

from convoy.splits import being_split, can_be_split
from convoy.state import Convoy, Task

MOST: Final = 8
"""So many may try the same."""
NONE_LEFT: Final = (
    "none of its rivals is left: retry one of them to let it try again, or drop this"
)


def choice_of(convoy: Convoy, number: int) -> Task | None:
    """Return the task that chooses between a rival and others."""
    found = (t for t in convoy.tasks if t.spec.kind == "choice" and number in t.spec.on)
    return next(found, None)


def rivals(convoy: Convoy, choice: Task) -> tuple[Task, ...]:
    """Return the tasks that a choice is between."""
    return tuple(task for task in convoy.tasks if task.number in choice.spec.on)


def is_green(rival: Task) -> bool:
    """Whether CI found its work green as it is now."""
    return rival.state == "needs-review" and rival.is_proven


def left(convoy: Convoy, choice: Task) -> tuple[Task, ...]:
    """Return the rivals that can be chosen."""
    return tuple(filter(is_green, rivals(convoy, choice)))


def under_way(convoy: Convoy, choice: Task) -> tuple[Task, ...]:
    """Return the rivals of which it is not known yet whether they can be chosen."""
    out = ("blocked", "dropped")
    return tuple(
        rival
        for rival in rivals(convoy, choice)
        if rival.state not in out and not is_green(rival)
    )


def is_unchosen(convoy: Convoy, task: Task) -> bool:
    """Whether it is a rival that has not been chosen: it does not land."""
    if task.spec.kind != "rival":
        return False
    choice = choice_of(convoy, task.number)
    return choice is None or choice.chosen != task.number


def is_beaten(convoy: Convoy, task: Task) -> bool:
    """Whether it is a rival that is out, and nobody need mind: the race goes on."""
    choice = choice_of(convoy, task.number)
    if task.state != "blocked" or choice is None or not is_unchosen(convoy, task):
        return False
    return choice.state != "blocked"


def is_stopped(convoy: Convoy, task: Task) -> bool:
    """Whether a person must act before it goes on."""
    if task.state != "blocked" or is_beaten(convoy, task):
        return False
    return not (can_be_split(convoy, task) or being_split(convoy, task))


def smallest(found: Iterable[Task]) -> Task:
    """Return what is chosen where nobody can say: the smallest change, the first."""
    return min(found, key=lambda rival: (rival.lines, rival.number))


def chooses(choice: Task) -> bool:
    """Whether the choice is open, and nobody is at it."""
    is_open = choice.spec.kind == "choice" and not choice.chosen
    return is_open and choice.state == "queued" and choice.attempt is None


def awaited(convoy: Convoy, choice: Task) -> str:
    """Return what a choice waits for; empty: it takes somebody who judges."""
    if choice.chosen:
        return f"task {choice.chosen} to land"
    if numbers := ", ".join(str(rival.number) for rival in under_way(convoy, choice)):
        return f"task {numbers} to be tried"
    found = left(convoy, choice)
    if len(found) == 1:
        return f"nobody: task {found[0].number} is the only one left"
    return "" if found else "a rival that CI finds green"
