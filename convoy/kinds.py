"""What the kinds of task have in common, and how they hang together. Pure."""

from collections.abc import Iterator
from typing import Final, Literal

from convoy import rivals, splits
from convoy.events import Kind, TaskSpec
from convoy.state import Convoy, HalfDone, Task, Work

ACCEPTED: Final[frozenset[Kind]] = frozenset({"work", "rival"})
"""Their work is to pass the acceptance command; tests that come first are to be red."""
REPORTING: Final[frozenset[Kind]] = frozenset({"report", "scout"})
"""They end in a report, and land nothing."""
CHANGING: Final[frozenset[Kind]] = frozenset({"work", "tests", "rival"})
"""They end in a change."""

ANSWERS: Final[dict[Kind | Literal["plan"], str]] = {
    "plan": "plan",
    "report": "report",
    "scout": "report",
    "review": "review",
    "choice": "choice",
    "split": "plan",
}
"""What a session answers with, of the kinds whose result is no change."""

READING: Final = frozenset({"plan", "report", "choice", "split"})
"""They change and run nothing: the project's toolchain is not set up for them."""


def is_last(task: TaskSpec, tasks: tuple[TaskSpec, ...]) -> bool:
    """Whether no task of the plan waits for this one."""
    return not any(task.number in other.after for other in tasks)


def reviews(convoy: Convoy, number: int) -> Iterator[Task]:
    """Give the reviews of a task's work that are not settled."""
    return (
        task
        for task in convoy.tasks
        if task.spec.kind == "review" and number in task.spec.on and not task.settled
    )


def attending(convoy: Convoy, number: int) -> Iterator[Task]:
    """Give the tasks that are settled when this one is.

    Its reviews, its tests and its split; of the rival that is chosen the choice, and of
    a choice that is given up the rivals.
    """
    yield from reviews(convoy, number)
    task = convoy.task(number)
    if task is None:
        return
    if task.spec.kind == "choice":
        yield from (each for each in rivals.rivals(convoy, task) if not each.settled)
    choice = rivals.choice_of(convoy, number)
    if choice is not None and choice.chosen == number and not choice.settled:
        yield choice
    split = splits.split_of(convoy, number)
    if split is not None and not split.settled:
        yield split
    if task.spec.kind != "work":
        return
    tests = (convoy.task(each) for each in task.spec.on)
    yield from (each for each in tests if each is not None and not each.settled)


def is_done(convoy: Convoy, task: Task) -> bool:
    """Whether what the task was for is done: by it, or by others in its place."""
    if task.state != "dropped":
        return task.state == "merged"
    choice = rivals.choice_of(convoy, task.number)
    others = choice is not None and choice.state == "merged"
    parts = any(each.spec.part_of == task.number for each in convoy.tasks)
    return others or parts or task.spec.kind == "split"


def stands_on(convoy: Convoy, task: Task) -> Work | None:
    """Return the work that an attempt starts from, of a task that is on another."""
    other = convoy.task(task.spec.on[0]) if task.spec.on else None
    work = other.work if other is not None else None
    if other is None or work is None or other.state != "needs-review":
        return None
    ready = {"review": task.approves != work.commit, "work": other.is_proven}
    return work if ready.get(task.spec.kind) else None


def half_done(convoy: Convoy, task: Task) -> HalfDone | None:
    """Return the half-done work that the next attempt goes on from; None: none.

    Not if it stands on other work than that from which the attempt would start now.
    """
    found = task.half_done
    if found is None or task.spec.kind not in CHANGING:
        return None
    work = task.earlier or stands_on(convoy, task)
    return found if work is None or work.commit == found.ground else None


def awaited(convoy: Convoy, task: Task) -> str:
    """Return what a task waits for that is on another; empty: nothing."""
    if task.spec.kind == "choice":
        return rivals.awaited(convoy, task)
    if task.spec.kind == "split":
        return ""  # what it splits stands still
    if not task.spec.on or task.earlier or stands_on(convoy, task) is not None:
        return ""
    names = ", ".join(map(str, task.spec.on))
    if task.spec.kind == "work":
        return f"CI to find the tests of task {names} red"
    other = convoy.task(task.spec.on[0])
    is_there = other is not None and other.state == "needs-review"
    return f"task {names} to land" if is_there else f"work of task {names}"


def coder(convoy: Convoy, tests: Task) -> Task | None:
    """Return the task whose code is to pass the tests."""
    found = (t for t in convoy.tasks if tests.number in t.spec.on and t.number)
    return next((task for task in found if task.spec.kind == "work"), None)
