"""Whether there is money left for another attempt. Pure.

Only money that is known counts. A session is ended when it alone has spent what was
left at its start, so a budget can be overspent by what runs side by side. What a task
or convoy has spent is a person's matter; what a day has spent is over with the day.
"""

from datetime import UTC, datetime
from typing import Final

from msgspec.structs import replace

from convoy.events import Cause, Limits
from convoy.state import Convoy, State, Task
from convoy.told.spending import dollars, used

DAY_MS: Final = 86_400_000

_ASKED_FOR: Final[frozenset[Cause]] = frozenset({"retry", "changes"})
"""A person wants this very attempt, and knows what was spent."""


def overspent(convoy: Convoy, task: Task) -> str:
    """Return why no further attempt at the task is paid for; empty: one is."""
    if task.cause in _ASKED_FOR:
        return ""
    budget = convoy.settings.budget
    of_task = _spent("task", task.used.usd, budget.task)
    return of_task or _spent("convoy", used(convoy).usd, budget.convoy)


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
    """Return what the next attempt may use: no more money than is left."""
    limits, budget = convoy.settings.limits, convoy.settings.budget
    if task.cause in _ASKED_FOR:
        return limits
    known = (
        limits.usd,
        None if budget.task is None else budget.task - task.used.usd,
        None if budget.convoy is None else budget.convoy - used(convoy).usd,
    )
    left = [usd for usd in known if usd is not None]
    return replace(limits, usd=max(0.0, round(min(left), 6)) if left else None)


def _spent(what: str, usd: float, most: float | None) -> str:
    if most is None or usd < most:
        return ""
    return f"the {what}'s budget of {dollars(most)} is spent, {dollars(usd)} so far"
