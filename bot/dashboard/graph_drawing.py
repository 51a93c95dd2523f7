"""A convoy's dependency graph as boxes and arrows. Pure.

A task is one column right of the last task it waits for, so arrows point right.
"""

from typing import Final

from msgspec import Struct

from convoy.model.state import Convoy, Task, TaskState

BOX: Final = (170, 44)
"""Width and height of a box, in pixels."""
GAP: Final = (46, 16)
TITLE_CHARS: Final = 20


class Box(Struct, frozen=True, kw_only=True):
    """One task; x and y are its upper left corner."""

    number: int
    title: str
    state: TaskState
    x: int
    y: int


class Arrow(Struct, frozen=True, kw_only=True):
    """An arrow from a task to a task that waits for it."""

    path: str
    """The arrow's path in SVG's syntax."""
    done: bool
    """Whether the waiting is over."""


class Drawing(Struct, frozen=True, kw_only=True):
    """The whole drawing; the size is in pixels."""

    width: int
    height: int
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


def draw(convoy: Convoy) -> Drawing:
    """Return the drawing of a convoy's graph, which has no cycles (see `decide`)."""
    columns = _columns(convoy)
    rows: dict[int, int] = {}
    boxes: dict[int, Box] = {}
    for task in convoy.tasks:
        column = columns[task.number]
        row = rows.get(column, 0)
        rows[column] = row + 1
        boxes[task.number] = _box(task, column, row)
    arrows = tuple(
        _arrow(boxes[number], boxes[task.number])
        for task in convoy.tasks
        for number in task.spec.after
        if number in boxes
    )
    return Drawing(
        width=(max(columns.values(), default=0) + 1) * (BOX[0] + GAP[0]),
        height=max(rows.values(), default=0) * (BOX[1] + GAP[1]),
        boxes=tuple(boxes.values()),
        arrows=arrows,
    )


def _columns(convoy: Convoy) -> dict[int, int]:
    after = {task.number: task.spec.after for task in convoy.tasks}
    columns: dict[int, int] = {}
    left = list(after)
    while left:
        ready = [
            number
            for number in left
            if all(needed in columns or needed not in after for needed in after[number])
        ] or left  # even a cycle is drawn
        for number in ready:
            columns[number] = (
                max((columns.get(n, -1) for n in after[number]), default=-1) + 1
            )
        left = [number for number in left if number not in columns]
    return columns


def _box(task: Task, column: int, row: int) -> Box:
    title = task.spec.title
    short = title if len(title) <= TITLE_CHARS else f"{title[: TITLE_CHARS - 1]}…"
    return Box(
        number=task.number,
        title=short,
        state=task.state,
        x=column * (BOX[0] + GAP[0]),
        y=row * (BOX[1] + GAP[1]),
    )


def _arrow(start: Box, end: Box) -> Arrow:
    x1, y1 = start.x + BOX[0], start.y + BOX[1] // 2
    x2, y2 = end.x - 4, end.y + BOX[1] // 2
    bend = (x1 + x2) // 2
    path = f"M{x1} {y1} C{bend} {y1} {bend} {y2} {x2} {y2}"
    return Arrow(path=path, done=start.state == "merged")
