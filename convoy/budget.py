"""Whether there is money left for another attempt. Pure.

Only money that is known counts. Sessions at work are not stopped, so a budget can be
overspent by what runs side by side.
"""

from typing import Final

from convoy.events import Cause
from convoy.state import Convoy, Task
from convoy.told.spending import dollars, used

_ASKED_FOR: Final[frozenset[Cause]] = frozenset({"retry", "changes"})
"""A person wants this very attempt, and knows what was spent."""


def overspent(convoy: Convoy, task: Task) -> str:
    """Return why no further attempt at the task is paid for; empty: one is."""
    if task.cause in _ASKED_FOR:
        return ""
    budget = convoy.settings.budget
    of_task = _spent("task", task.used.usd, budget.task)
    return of_task or _spent("convoy", used(convoy).usd, budget.convoy)


def _spent(what: str, usd: float, most: float | None) -> str:
    if most is None or usd < most:
        return ""
    return f"the {what}'s budget of {dollars(most)} is spent, {dollars(usd)} so far"
