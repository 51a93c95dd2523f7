"""When a convoy will be done, judged by what its own sessions have taken. Pure.

It is the longer of two: the longest chain of tasks that wait for each other, and all
that is left shared by as many agents as have worked side by side. People's answers are
not foreseen: what waits for one is left out, and said.
"""

from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from statistics import quantiles
from typing import Final

from msgspec import Struct

from convoy.model.state import Convoy, Task
from convoy.text.counts_and_times import counted
from convoy.views.forecast_words import span
from convoy.views.session_history import Past

LEAST: Final = 3
"""From how many sessions on the range is that of eight in ten, else of all."""


class Finish(Struct, frozen=True, kw_only=True):
    """How long a convoy will go on, in seconds from now."""

    soonest: float
    likely: float
    latest: float
    waits: int
    """How many of its tasks wait for a person, and are not in it."""


def finish(convoy: Convoy, sessions: Sequence[Past], now: int) -> Finish | None:
    """Return when a convoy will be done; None: it is not active, or nothing is known.

    Args:
        convoy: as it is now.
        sessions: all that it has had.
        now: unix ms.
    """
    work = [one.took_s for one in sessions if one.ended and one.task]
    left = tuple(task for task in convoy.tasks if not task.settled)
    if convoy.state != "active" or not left or not work:
        return None
    landing = [(one.landed - one.ended) / 1000 for one in sessions if one.landed]
    tries = len(work) / len({one.task for one in sessions if one.ended and one.task})
    agents = _side_by_side(sessions)
    works, landings = _spread(work), _spread(landing or [0.0])
    low, middle, high = (
        _left(left, session, land, agents, now)
        for session, land in zip(
            (works[0], works[1] * tries, works[2] * tries), landings, strict=True
        )
    )
    blocked = sum(task.state == "blocked" for task in left)
    return Finish(soonest=low, likely=middle, latest=high, waits=blocked)


def said(found: Finish) -> str:
    """Return it in a few words."""
    waits = counted(found.waits, "task")
    after = f", beside {waits} waiting for you" if found.waits else ""
    soonest, latest = span(found.soonest), span(found.latest)
    between = f" ({soonest} to {latest})" if soonest != latest else ""
    return f"about {span(found.likely)} left{between}{after}"


def _left(
    tasks: Sequence[Task], session: float, land: float, agents: int, now: int
) -> float:
    """Return how long tasks take if a session and a landing take this long."""
    by_number = {task.number: task for task in tasks}
    work = {task.number: _work_left(task, session, now) for task in tasks}

    @cache
    def ends(number: int) -> float:
        task = by_number[number]
        own = 0.0 if task.state == "blocked" else work[number] + land
        on = (each for each in task.spec.after if each in by_number)
        return own + max(map(ends, on), default=0.0)

    shared = sum(work.values()) / max(1, agents) + land
    return max(shared, *map(ends, by_number))


def _work_left(task: Task, session: float, now: int) -> float:
    if task.state in ("needs-review", "blocked"):
        return 0.0
    if task.attempt is None:
        return session
    return max(0.0, session - (now - task.attempt.at) / 1000)


def _spread(values: Sequence[float]) -> tuple[float, float, float]:
    ordered = sorted(values)
    if len(ordered) < LEAST:
        return ordered[0], ordered[len(ordered) // 2], ordered[-1]
    tenths = quantiles(ordered, n=10, method="inclusive")
    return tenths[0], tenths[4], tenths[8]


def _side_by_side(sessions: Sequence[Past]) -> int:
    """Return how many sessions ran at the same time at most."""
    begun = [(one.begun, 1) for one in sessions]
    ended = [(one.ended, -1) for one in sessions if one.ended]
    return max(accumulate(change for _, change in sorted(begun + ended)), default=1)
