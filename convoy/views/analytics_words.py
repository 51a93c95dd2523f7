"""Analytics in a sentence."""

from convoy.model.spending import dollars
from convoy.text.counts_and_times import counted
from convoy.views.analytics import Analytics


def summary(found: Analytics) -> str:
    """Return the sums in a line."""
    if not found.changes:
        return "no change has landed"
    days = len(found.per_day)
    sessions = found.sessions / found.changes
    runs = found.ci_runs / found.changes
    each = found.usd / found.changes
    cost = f", {dollars(each)} each" if found.usd else ""
    return (
        f"{counted(found.changes, 'change')} landed in {counted(days, 'day')}, with "
        f"{sessions:.2f} sessions and {runs:.2f} CI runs each{cost}; "
        f"{found.dropped} dropped"
    )
