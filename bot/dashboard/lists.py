"""All entries of each list; a page shows only part of them. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from bot.dashboard.access_policy import RepositoryView
from convoy.model.state import Convoy, State, Task
from convoy.views.interventions import Intervention, interventions
from convoy.views.timeline import Line

STATES: Final = (
    "queued",
    "running",
    "blocked",
    "needs-review",
    "merged",
    "dropped",
)

Found = tuple[Sequence[Any], Mapping[str, Any]]
"""The rows, and the page's other values."""


def waiting(view: RepositoryView) -> tuple[Intervention, ...]:
    """Return everything that waits for a person, in the log or outside of it."""
    watcher = view.watcher
    found = interventions(view.state, view.now, watcher.reading.faults)
    return (*watcher.here, *found)


def waits(view: RepositoryView) -> Found:
    """Return everything that waits for a person, as rows."""
    return waiting(view), {}


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
    """Return the tasks in one state; all tasks if `wanted` is empty."""
    found = [each for each in all_tasks(state) if wanted in ("", each[1].state)]
    return found, {"states": STATES, "wanted": wanted}


def sessions(state: State) -> Found:
    """Return the sessions that have not ended."""
    return [*state.running()], {}


def convoys(state: State) -> Found:
    """Return all convoys."""
    return newest_first(state), {}


def lines(state: State, known: Sequence[Line], wanted: str, words: str) -> Found:
    """Return the log's matching last lines, the newest first.

    Args:
        state: holds the names of convoys.
        known: the lines, the oldest first.
        wanted: a convoy's name; empty: any convoy.
        words: the text that a line must contain.
    """
    found = [
        line
        for line in reversed(known)
        if wanted in ("", line.convoy) and words.lower() in line.text.lower()
    ]
    names = [convoy.name for convoy in newest_first(state)]
    return found, {"convoys": names, "wanted": wanted, "words": words}
