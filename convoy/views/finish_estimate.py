"""When a convoy will be done, judged by what its own sessions have taken. Pure.

What is left is played through again and again. That knows nothing of what nobody has
seen yet, such as work that will overlap, so the range is wider than what was played, by
as much as such estimates were wrong (decision 81). People's answers are not foreseen:
what waits for one is left out, and said.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from convoy.model.state import Convoy
from convoy.text.counts_and_times import counted
from convoy.views.forecast_words import span
from convoy.views.rest_of_convoy import known, played
from convoy.views.session_history import Past

SOONER: Final = 0.7
"""What the lower end of what was played is multiplied by."""
LATER: Final = 1.2
"""What its upper end is multiplied by."""


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
    left = tuple(task for task in convoy.tasks if not task.settled)
    past = known(sessions)
    if convoy.state != "active" or not left or past is None:
        return None
    found = played(convoy, sessions, past, now)
    blocked = sum(task.state == "blocked" for task in left)
    return Finish(
        soonest=SOONER * found[len(found) // 10],
        likely=found[len(found) // 2],
        latest=LATER * found[-1 - len(found) // 10],
        waits=blocked,
    )


def said(found: Finish) -> str:
    """Return it in a few words."""
    waits = counted(found.waits, "task")
    after = f", beside {waits} waiting for you" if found.waits else ""
    soonest, latest = span(found.soonest), span(found.latest)
    between = f" ({soonest} to {latest})" if soonest != latest else ""
    return f"about {span(found.likely)} left{between}{after}"
