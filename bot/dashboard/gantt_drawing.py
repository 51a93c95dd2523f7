"""The sessions of a convoy as bars over time. Pure."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from convoy.model.state import Convoy
from convoy.text.duration import spoken
from convoy.views.session_history import How, Past

WIDTH: Final = 960
LEFT: Final = 210
"""The x of the time axis's start; the tasks' names stand left of it."""
ROW: Final = 20
TICKS: Final = 6
_LEAST: Final = 3.0
_NAME_CHARS: Final = 26


class Bar(Struct, frozen=True, kw_only=True):
    """One session, and the wait until its work landed."""

    x: float
    y: int
    width: float
    how: How
    title: str
    waits: float = 0.0
    """The width of the wait to land behind the bar; 0: there was no wait."""


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


def draw(convoy: Convoy, sessions: Sequence[Past], now: int) -> Gantt:
    """Return the drawing.

    Args:
        convoy: as it is at `now`.
        sessions: all that it has had.
        now: unix ms; the bars of running sessions end here.
    """
    begun = min((one.begun for one in sessions), default=now)
    ends = [
        now if _goes_on(one, convoy) else one.landed or one.ended for one in sessions
    ]
    ended = max(ends, default=now)
    scale = (WIDTH - LEFT - 10) / max(1, ended - begun)
    names = _names(convoy, sessions)
    rows = {number: (place + 1) * ROW for place, number in enumerate(names)}

    def x(at: int) -> float:
        return round(LEFT + (at - begun) * scale, 1)

    def bar(one: Past, end: int) -> Bar:
        begins, stops = x(one.begun), x(one.ended or end)
        return Bar(
            x=begins,
            y=rows[one.task],
            width=max(_LEAST, round(stops - begins, 1)),
            how=one.how,
            title=_said(one),
            waits=max(0.0, round(x(end) - stops, 1)),
        )

    step = (ended - begun) / TICKS
    return Gantt(
        height=(len(rows) + 2) * ROW,
        rows=tuple(Row(rows[number], name) for number, name in names.items()),
        bars=tuple(
            bar(one, end)
            for one, end in zip(sessions, ends, strict=True)
            if one.task in rows  # a later plan may have left it out
        ),
        now=x(now) if any(_goes_on(one, convoy) for one in sessions) else None,
        ticks=tuple(
            Tick(x(begun + round(step * n)), spoken(round(step * n / 1000)))
            for n in range(TICKS + 1)
        ),
    )


def _goes_on(one: Past, convoy: Convoy) -> bool:
    """Whether a session runs, or its work may still land."""
    return not one.ended or (one.how == "handed in" and not convoy.ended)


def _names(convoy: Convoy, sessions: Sequence[Past]) -> dict[int, str]:
    """Return the rows' names: a convoy's tasks and, if sessions made it, its plan."""
    tasks = {task.number: _name(task.number, task.spec.title) for task in convoy.tasks}
    planned = any(one.task == 0 for one in sessions)
    return {0: "0 the plan", **tasks} if planned else tasks


def _name(number: int, title: str) -> str:
    short = title if len(title) <= _NAME_CHARS else f"{title[: _NAME_CHARS - 1]}…"
    return f"{number} {short}"


def _said(one: Past) -> str:
    why = f": {one.why}" if one.why else ""
    return f"attempt {one.attempt}, {one.engine}, {one.took_s:.0f} s, {one.how}{why}"
