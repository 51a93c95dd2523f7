"""Whether there is money left for another attempt. Pure.

Only known costs count. A session is ended when it alone has spent what was left at its
start, so parallel sessions can overspend a budget. A person decides about a spent task
or convoy budget; a day's budget renews itself.
"""

from datetime import UTC, datetime
from typing import Final

from msgspec.structs import replace

from convoy.model.records import Cause, Limits
from convoy.model.session_end import DAY_MS
from convoy.model.spending import dollars
from convoy.model.state import Convoy, State, Task

_ASKED_FOR: Final[frozenset[Cause]] = frozenset({"retry", "changes"})
"""Causes by which a person wants this attempt, knowing what was spent."""


def overspent(convoy: Convoy, task: Task) -> str:
    """Return why there is no money for another attempt at the task; empty: there is."""
    if task.cause in _ASKED_FOR:
        return ""
    budget = convoy.settings.budget
    of_task = _spent("task", task.used.usd, budget.task)
    return of_task or _spent("convoy", convoy.used.usd, budget.convoy)


def closed(state: State, convoy: Convoy, task: Task, now: int) -> str:
    """Return why the task does not start before the next day; empty: it may."""
    most, day = convoy.settings.budget.day, now // DAY_MS
    if most is None or task.cause in _ASKED_FOR:
        return ""
    spent = state.day_usd if state.day == day else 0.0
    if spent < most:
        return ""
    again = datetime.fromtimestamp(reopens(now) / 1000, UTC)
    return (
        f"today's budget of {dollars(most)} is spent, {dollars(spent)} so far; "
        f"it starts again at {again:%Y-%m-%d %H:%M} UTC"
    )


def reopens(now: int) -> int:
    """Return when the next day begins, UTC, unix ms."""
    return (now // DAY_MS + 1) * DAY_MS


def capped(convoy: Convoy, task: Task) -> Limits:
    """Return the next attempt's limits, with no more money than is left."""
    limits, budget = convoy.settings.limits, convoy.settings.budget
    if task.cause in _ASKED_FOR:
        return limits
    known = (
        limits.usd,
        None if budget.task is None else budget.task - task.used.usd,
        None if budget.convoy is None else budget.convoy - convoy.used.usd,
    )
    left = [usd for usd in known if usd is not None]
    return replace(limits, usd=max(0.0, round(min(left), 6)) if left else None)


def _spent(what: str, usd: float, most: float | None) -> str:
    if most is None or usd < most:
        return ""
    return f"the {what}'s budget of {dollars(most)} is spent, {dollars(usd)} so far"
