"""The sessions of a convoy as bars over time. Pure."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from convoy.model.state import Convoy
from convoy.views.forecast_words import span
from convoy.views.session_history import How, Past

WIDTH: Final = 960
LEFT: Final = 210
"""The x of the time axis's start; the tasks' names stand left of it."""
ROW: Final = 20
TICKS: Final = 6
_LEAST: Final = 3.0
_NAME_CHARS: Final = 28


class Bar(Struct, frozen=True, kw_only=True):
    """One session, and the wait until its work landed."""

    x: float
    y: int
    width: float
    how: How
    title: str
    waits: float = 0.0
    """The width of the wait behind the bar; 0: there was no wait."""


class Row(Struct, frozen=True):
    """One task's name and its position."""

    y: int
    name: str


class Tick(Struct, frozen=True):
    """A moment, in seconds from the beginning."""

    x: float
    said: str


class Gantt(Struct, frozen=True, kw_only=True):
    """The whole drawing, in pixels."""

    width: int = WIDTH
    height: int
    rows: tuple[Row, ...]
    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    now: float | None
    """The x of this moment; None: no session runs."""


def names(convoy: Convoy, sessions: Sequence[Past]) -> dict[int, str]:
    """Return the rows' names: a convoy's tasks and, if sessions made it, its plan."""
    tasks = {task.number: _name(task.number, task.spec.title) for task in convoy.tasks}
    planned = any(one.task == 0 for one in sessions)
    return {0: "0 the plan", **tasks} if planned else tasks


def _name(number: int, title: str) -> str:
    short = title if len(title) <= _NAME_CHARS else f"{title[: _NAME_CHARS - 1]}…"
    return f"{number} {short}"


def draw(sessions: Sequence[Past], names: dict[int, str], now: int) -> Gantt:
    """Return the drawing.

    Args:
        sessions: the sessions of one convoy.
        names: the names of the tasks that have a row, by number, in order.
        now: unix ms; the bars of running sessions end here.
    """
    begun = min((one.begun for one in sessions), default=now)
    ended = max((one.landed or one.ended or now for one in sessions), default=now)
    scale = (WIDTH - LEFT - 10) / max(1, ended - begun)
    rows = {number: (place + 1) * ROW for place, number in enumerate(names)}

    def x(at: int) -> float:
        return round(LEFT + (at - begun) * scale, 1)

    bars = []
    for one in sessions:
        if one.task not in rows:
            continue  # a later plan left it out
        end = one.ended or now
        bar = Bar(
            x=x(one.begun),
            y=rows[one.task],
            width=max(_LEAST, round(x(end) - x(one.begun), 1)),
            how=one.how,
            title=_said(one),
            waits=max(0.0, round(x(one.landed) - x(end), 1)) if one.landed else 0.0,
        )
        bars.append(bar)
    step = (ended - begun) / TICKS
    return Gantt(
        height=(len(rows) + 2) * ROW,
        rows=tuple(Row(rows[number], name) for number, name in names.items()),
        bars=tuple(bars),
        now=x(now) if any(not one.ended for one in sessions) else None,
        ticks=tuple(
            Tick(x(begun + round(step * n)), span(step * n / 1000))
            for n in range(TICKS + 1)
        ),
    )


def _said(one: Past) -> str:
    why = f": {one.why}" if one.why else ""
    return f"attempt {one.attempt}, {one.engine}, {one.took_s:.0f} s, {one.how}{why}"
