"""What each list shows, whole: the page it is on takes a part of it. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from bot.dashboard.porch import Sight
from convoy.state import Convoy, State, Task
from convoy.told.interventions import Intervention, interventions
from convoy.told.timeline import Line

STATES: Final = (
    "queued",
    "running",
    "blocked",
    "needs-review",
    "merged",
    "dropped",
)

Found = tuple[Sequence[Any], Mapping[str, Any]]
"""Rows, and what else the page shows."""


def waiting(sight: Sight) -> tuple[Intervention, ...]:
    """Return all that waits for a person, here or by what the log says."""
    news = sight.news
    found = interventions(sight.state, sight.now, news.reading.faults)
    return (*news.here, *found)


def waits(sight: Sight) -> Found:
    """Return what waits for a person."""
    return waiting(sight), {}


def newest_first(state: State) -> list[Convoy]:
    """Return all convoys: those that have not ended first, then the newest."""
    newest = reversed(state.convoys.values())
    return sorted(newest, key=lambda convoy: convoy.ended)


def all_tasks(state: State) -> Iterable[tuple[Convoy, Task]]:
    """Give every task, the newest convoys' first."""
    for convoy in reversed(state.convoys.values()):
        for task in convoy.tasks:
            yield convoy, task


def tasks(state: State, wanted: str) -> Found:
    """Return the tasks that are in one state; in any for no state."""
    found = [each for each in all_tasks(state) if wanted in ("", each[1].state)]
    return found, {"states": STATES, "wanted": wanted}


def sessions(state: State) -> Found:
    """Return the sessions that have not ended."""
    return [*state.running()], {}


def convoys(state: State) -> Found:
    """Return all convoys."""
    return newest_first(state), {}


def lines(state: State, known: Sequence[Line], wanted: str, words: str) -> Found:
    """Return the log's last lines that fit, the newest first.

    Args:
        state: for the names of convoys.
        known: lines, the oldest first.
        wanted: a convoy; empty: any.
        words: what a line must hold.
    """
    found = [
        line
        for line in reversed(known)
        if wanted in ("", line.convoy) and words.lower() in line.text.lower()
    ]
    names = [convoy.name for convoy in newest_first(state)]
    return found, {"convoys": names, "wanted": wanted, "words": words}
