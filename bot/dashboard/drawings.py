"""What pages draw of a convoy, as shapes for the templates' SVG. Pure.

Its dependency graph: a task is one column right of the last task it waits for, so
arrows point right. Its tasks over time: places along the axis are percentages, so the
drawing is as wide as its page.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from math import ceil
from statistics import fmean
from textwrap import wrap
from typing import Final, Literal

from msgspec import Struct

from convoy.model.state import Convoy, Task
from convoy.model.task_graph import order, waits
from convoy.text import rough
from convoy.views import STATE_ORDER
from convoy.views.history import How, PastSession
from convoy.views.reasons import waits_for

LINE_HEIGHT: Final = 15
BOX_GAP: Final = (46, 16)
ROOM: Final = 1200
"""As wide as a drawing of few columns gets, in pixels."""
NARROWEST: Final = 190
WIDEST_BOX: Final = 380
CHAR_WIDTH: Final = 7


class GraphBox(Struct, frozen=True, kw_only=True):
    """One task; x and y are its upper left corner."""

    task: Task
    title: tuple[str, ...]
    """Its number and title, in lines."""
    x: int
    y: int


class Graph(Struct, frozen=True, kw_only=True):
    """The whole drawing; sizes are in pixels."""

    width: int
    height: int
    box: tuple[int, int]
    boxes: tuple[GraphBox, ...]
    arrows: tuple[tuple[str, bool], ...]
    """Each path from a task to one that waits for it, and whether that is over."""


def draw_graph(convoy: Convoy) -> Graph:
    """Return the drawing of a convoy's graph, which has no cycles (see `decide`)."""
    tasks = {task.number: task for task in convoy.tasks}
    columns: dict[int, int] = {}
    for number in order(task.spec for task in convoy.tasks):
        before = (columns.get(n, -1) for n in tasks[number].spec.after)
        columns[number] = 1 + max(before, default=-1)
    count = max(columns.values(), default=0) + 1
    wide = min(WIDEST_BOX, max(NARROWEST, ROOM // count - BOX_GAP[0]))
    fits = partial(wrap, width=(wide - 36) // CHAR_WIDTH, max_lines=2, placeholder="…")
    titles = {n: tuple(fits(f"{n} {task.spec.title}")) for n, task in tasks.items()}
    high = 29 + LINE_HEIGHT * max(map(len, titles.values()), default=1)
    rows = _rows(convoy, columns)
    boxes = {
        number: GraphBox(
            task=tasks[number],
            title=titles[number],
            x=columns[number] * (wide + BOX_GAP[0]),
            y=row * (high + BOX_GAP[1]),
        )
        for number, row in rows.items()
    }
    arrows = tuple(
        _arrow(boxes[before], box, wide, high // 2)
        for box in boxes.values()
        for before in box.task.spec.after
        if before in boxes
    )
    return Graph(
        width=count * (wide + BOX_GAP[0]),
        height=(max(rows.values(), default=0) + 1) * (high + BOX_GAP[1]),
        box=(wide, high),
        boxes=tuple(boxes.values()),
        arrows=arrows,
    )


def _rows(convoy: Convoy, columns: Mapping[int, int]) -> dict[int, int]:
    """Return each task's row, column by column: beside those that it waits for."""
    rows: dict[int, int] = {}
    found = sorted(convoy.tasks, key=lambda one: columns[one.number])
    for _, column in groupby(found, key=lambda one: columns[one.number]):
        beside = {
            one.number: fmean([rows[n] for n in one.spec.after if n in rows] or [0])
            for one in column
        }
        free = 0
        for number in sorted(beside, key=lambda n: (beside[n], n)):
            rows[number] = max(free, int(beside[number]))
            free = rows[number] + 1
    return rows


def _arrow(start: GraphBox, end: GraphBox, wide: int, middle: int) -> tuple[str, bool]:
    x1, y1, x2, y2 = start.x + wide, start.y + middle, end.x - 1, end.y + middle
    bend = (x1 + x2) // 2
    path = f"M{x1} {y1} C{bend} {y1} {bend} {y2} {x2} {y2}"
    return path, start.task.state == "merged"


MOST_TICKS: Final = 5
STEPS_S: Final = (
    *(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600),
    *(43_200, 86_400, 172_800, 604_800),
)
"""What may lie between two marks of the axis, in seconds."""
_LEAST: Final = 0.4
"""At most so many times the past lies ahead, or what happened could not be seen."""
Stage = Literal["queue", "session", "ci"]


class StageBar(Struct, frozen=True, kw_only=True):
    """One stage of one attempt; x and width in percent."""

    attempt: int
    stage: Stage
    x: float
    width: float
    how: How
    title: str


class GanttRow(Struct, frozen=True):
    number: int
    """0: the plan."""
    name: str
    state: str
    bars: tuple[StageBar, ...]
    waits: str


class Gantt(Struct, frozen=True, kw_only=True):
    rows: tuple[GanttRow, ...]
    ticks: tuple[tuple[float, str], ...]
    """Round moments: the place of each in percent, and what is said there."""
    now: float | None
    """The place of this moment in percent; None: nothing goes on."""
    left_out: int


def draw_gantt(
    convoy: Convoy,
    sessions: Sequence[PastSession],
    now: int,
    most: int | None = None,
) -> Gantt:
    """Return the drawing.

    The bars of what goes on end at `now`, unix ms. At most `most` tasks have a row:
    those where something happens first.
    """
    tasks = {task.number: task for task in convoy.tasks}
    names = {n: (task.spec.title, task.state) for n, task in tasks.items()}
    if any(one.task == 0 for one in sessions):
        names = {0: ("the plan", "merged" if names else "running"), **names}
    kept = _busiest(convoy, sessions, names, most)
    begun = min((one.begun for one in sessions), default=now)
    ends = {
        id(one): now if _goes_on(one, convoy) else one.landed or one.back or one.ended
        for one in sessions
    }
    ended = max((*ends.values(), begun + 1))
    goes_on = any(_goes_on(one, convoy) for one in sessions)
    scale = 100 / (ended - begun)

    def x(at: int) -> float:
        return round(min(100.0, max(0.0, (at - begun) * scale)), 2)

    bars: dict[int, list[StageBar]] = {number: [] for number in kept}
    for one in sessions:
        for stage, begins, stops in _stages(one, ends[id(one)]):
            if stage == "queue" and x(stops) - x(begins) < _LEAST:
                continue
            bar = StageBar(
                attempt=one.attempt,
                stage=stage,
                x=x(begins),
                width=max(_LEAST, round(x(stops) - x(begins), 2)),
                how=one.how,
                title=_bar_title(one, stage, stops - begins),
            )
            bars.get(one.task, []).append(bar)
    return Gantt(
        rows=tuple(
            GanttRow(
                *(n, *names[n], tuple(bars[n])),
                waits_for(convoy, tasks[n]) if names[n][1] == "queued" else "",
            )
            for n in kept
        ),
        now=x(now) if goes_on else None,
        left_out=len(names) - len(kept),
        ticks=tuple(
            (x(begun + at_s * 1000), said)
            for at_s, said in _marks((ended - begun) / 1000)
        ),
    )


def _marks(length_s: float) -> Iterator[tuple[int, str]]:
    """Give round moments of so many seconds, each with what is said of it."""
    most = MOST_TICKS
    step = next((one for one in STEPS_S if length_s / one <= most), 0)
    step = step or STEPS_S[-1] * ceil(length_s / STEPS_S[-1] / most)
    units = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))
    unit, name = next(each for each in units if step % each[0] == 0)
    for at_s in range(0, int(length_s) + 1, step):
        yield at_s, f"{at_s // unit} {name}" if at_s else "0"


def _stages(one: PastSession, end: int) -> Iterator[tuple[Stage, int, int]]:
    if one.queued and one.queued < one.begun:
        yield "queue", one.queued, one.begun
    stops = one.ended or end
    yield "session", one.begun, stops
    if one.how in ("handed in", "landed", "sent back") and end > stops:
        asked = max(stops, one.offered or stops)
        if one.offered and asked > stops:
            yield "queue", stops, asked
        yield ("ci" if one.offered else "queue"), asked, end


def _goes_on(one: PastSession, convoy: Convoy) -> bool:
    return not one.ended or (one.how == "handed in" and not convoy.ended)


def _busiest(
    convoy: Convoy,
    sessions: Sequence[PastSession],
    names: Collection[int],
    most: int | None,
) -> list[int]:
    if most is None or len(names) <= most:
        return list(names)
    newest = {one.task: max(one.begun, one.landed) for one in sessions}
    first = ("running", "needs-review", "blocked", "queued")
    ranks = {
        task.number: first.index(task.state) if task.state in first else len(first)
        for task in convoy.tasks
    }
    order = sorted(names, key=lambda n: (ranks.get(n, 9), -newest.get(n, 0), n))
    return sorted(order[:most])


_STAGE_WORDS: Final = {"queue": "waited", "session": "session", "ci": "CI and landing"}


def _bar_title(one: PastSession, stage: Stage, took_ms: int) -> str:
    what = f"task {one.task}, attempt {one.attempt}: {_STAGE_WORDS[stage]}"
    if stage != "session":
        return f"{what}, {rough(took_ms / 1000)}"
    why = f": {one.why.partition(chr(10))[0]}" if one.why else ""
    return f"{what} by {one.engine}, {rough(took_ms / 1000)}, {one.how}{why}"


def held_up(convoy: Convoy, number: int) -> int:
    """Return how many tasks wait for this one, directly or through others."""
    specs = {task.number: task.spec for task in convoy.tasks}
    left = (task.number for task in convoy.tasks if not task.settled)
    return sum(waits(specs, each, number) for each in left if each != number)


def state_parts(convoy: Convoy) -> list[tuple[str, int]]:
    """Return each state that tasks of a convoy are in, and how many."""
    counts = Counter(task.state for task in convoy.tasks)
    return [(state, counts[state]) for state in STATE_ORDER if counts[state]]
