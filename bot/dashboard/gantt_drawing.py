"""The tasks of a convoy over time: each attempt's wait, session, CI and landing. Pure.

Places along the time axis are percentages, so the drawing is as wide as its page.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct

from convoy.model.state import Convoy, Task
from convoy.text import rough
from convoy.views.estimates import Finish
from convoy.views.history import How, PastSession

ROW: Final = 18
"""The height of a row, in pixels."""
HEAD: Final = 20
TICKS: Final = 3
_LEAST: Final = 0.4
_AHEAD: Final = 4
"""At most so many times the past lies ahead, or what happened could not be seen."""
Stage = Literal["queue", "session", "ci"]


class Bar(Struct, frozen=True, kw_only=True):
    """One stage of one attempt; x and width in percent."""

    stage: Stage
    x: float
    y: int
    width: float
    how: How
    title: str


class Row(Struct, frozen=True):
    """One task's name and its position."""

    y: int
    number: int
    name: str
    state: str


class Tick(Struct, frozen=True):
    """A moment, in seconds from the beginning."""

    x: float
    said: str


class Band(Struct, frozen=True):
    """When the convoy may be done, in percent."""

    x: float
    width: float
    likely: float | None
    """None: it is farther off than the axis."""


class Gantt(Struct, frozen=True, kw_only=True):
    """The whole drawing; the height in pixels."""

    height: int
    rows: tuple[Row, ...]
    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    now: float | None
    """The place of this moment in percent; None: nothing goes on."""
    band: Band | None
    left_out: int
    """How many tasks have no row."""


def draw(
    convoy: Convoy,
    sessions: Sequence[PastSession],
    now: int,
    finish: Finish | None = None,
    most: int | None = None,
) -> Gantt:
    """Return the drawing.

    Args:
        convoy: as it is at `now`.
        sessions: all that it has had.
        now: unix ms; the bars of what goes on end here.
        finish: when it will be done; None: that is not known.
        most: how many tasks have a row, those where something happens first; None: all.
    """
    names = _names(convoy, sessions)
    kept = _busiest(convoy, sessions, names, most)
    shown = [one for one in sessions if one.task in kept]
    begun = min((one.begun for one in sessions), default=now)
    ends = {id(one): _end(one, convoy, now) for one in sessions}
    ended = max((*ends.values(), begun + 1))
    goes_on = any(_goes_on(one, convoy) for one in sessions)
    last = ended
    if finish is not None:
        last = max(now + _ahead(finish, now - begun), ended)
    scale = 100 / max(1, last - begun)

    def x(at: int) -> float:
        return round(min(100.0, max(0.0, (at - begun) * scale)), 2)

    rows = {number: HEAD + place * ROW for place, number in enumerate(kept)}
    step = (last - begun) / TICKS
    return Gantt(
        height=HEAD + len(rows) * ROW + 4,
        rows=tuple(Row(rows[n], n, *names[n]) for n in kept),
        bars=tuple(
            Bar(
                stage=stage,
                x=x(begins),
                y=rows[one.task],
                width=max(_LEAST, round(x(stops) - x(begins), 2)),
                how=one.how,
                title=_said(one, stage, stops - begins),
            )
            for one in shown
            for stage, begins, stops in _stages(one, ends[id(one)])
        ),
        now=x(now) if goes_on else None,
        band=_band(finish, now, last, x),
        left_out=len(names) - len(kept),
        ticks=tuple(
            Tick(x(begun + round(step * n)), rough(step * n / 1000))
            for n in range(TICKS + 1)
        ),
    )


def _ahead(finish: Finish, been: int) -> int:
    """Return how much of the time to come is drawn (ms)."""
    if finish.soonest * 1000 > _AHEAD * been:
        return been // _AHEAD
    return min(round(finish.latest * 1000), _AHEAD * been)


def _stages(one: PastSession, end: int) -> Iterator[tuple[Stage, int, int]]:
    """Yield the stages of an attempt, each with its beginning and end."""
    if one.queued and one.queued < one.begun:
        yield "queue", one.queued, one.begun
    stops = one.ended or end
    yield "session", one.begun, stops
    if one.how in ("handed in", "landed", "sent back") and end > stops:
        asked = max(stops, one.offered or stops)
        if one.offered and asked > stops:
            yield "queue", stops, asked
        yield ("ci" if one.offered else "queue"), asked, end


def _band(
    finish: Finish | None, now: int, last: int, x: Callable[[int], float]
) -> Band | None:
    if finish is None:
        return None
    low, likely, high = (
        now + round(each * 1000)
        for each in (finish.soonest, finish.likely, finish.latest)
    )
    if low > last:
        return None
    width = max(_LEAST, round(x(high) - x(low), 2))
    return Band(x(low), width, x(likely) if likely <= last else None)


def _end(one: PastSession, convoy: Convoy, now: int) -> int:
    return now if _goes_on(one, convoy) else one.landed or one.back or one.ended


def _goes_on(one: PastSession, convoy: Convoy) -> bool:
    """Whether a session runs, or its work may still land."""
    return not one.ended or (one.how == "handed in" and not convoy.ended)


def _names(
    convoy: Convoy, sessions: Sequence[PastSession]
) -> dict[int, tuple[str, str]]:
    """Return each row's name and state: tasks and, if sessions made it, the plan."""
    names = {task.number: (task.spec.title, task.state) for task in convoy.tasks}
    planned = any(one.task == 0 for one in sessions)
    plan = {0: ("the plan", "merged" if convoy.tasks else "running")}
    return {**(plan if planned else {}), **names}


def _busiest(
    convoy: Convoy,
    sessions: Sequence[PastSession],
    names: dict[int, tuple[str, str]],
    most: int | None,
) -> list[int]:
    """Return the tasks that have a row, in the order of their numbers."""
    if most is None or len(names) <= most:
        return list(names)
    newest = {one.task: max(one.begun, one.landed) for one in sessions}
    ranks = {task.number: _rank(task) for task in convoy.tasks}
    order = sorted(names, key=lambda n: (ranks.get(n, 9), -newest.get(n, 0), n))
    return sorted(order[:most])


def _rank(task: Task) -> int:
    order = ("running", "needs-review", "blocked")
    return order.index(task.state) if task.state in order else len(order)


_WORDS: Final = {"queue": "waited", "session": "session", "ci": "CI and landing"}


def _said(one: PastSession, stage: Stage, took_ms: int) -> str:
    what = f"task {one.task}, attempt {one.attempt}: {_WORDS[stage]}"
    if stage != "session":
        return f"{what}, {rough(took_ms / 1000)}"
    why = f": {one.why.partition(chr(10))[0]}" if one.why else ""
    return f"{what} by {one.engine}, {rough(took_ms / 1000)}, {one.how}{why}"
