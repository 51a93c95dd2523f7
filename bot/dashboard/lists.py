"""All entries of each list; a page shows only part of them. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from bot.dashboard.access_policy import RepositoryView
from convoy.model.state import Convoy, State, Task
from convoy.views.history import LogLine
from convoy.views.interventions import Intervention, interventions

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


def convoys(state: State) -> Found:
    """Return all convoys."""
    return newest_first(state), {}


def lines(state: State, known: Sequence[LogLine], wanted: str, words: str) -> Found:
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


def holds(text: str, wanted: Iterable[str]) -> bool:
    """Whether a text holds all of the words, which are in lower case."""
    low = text.lower()
    return all(word in low for word in wanted)


SHOWN: Final = 30
"""Of each kind of thing a search shows so many at most."""


def found(
    view: RepositoryView, known: Sequence[LogLine], words: str
) -> Mapping[str, Any]:
    """Return what holds all of the words: convoys, tasks, what waits, the last lines.

    Args:
        view: the repository.
        known: the log's last lines, the oldest first.
        words: what somebody typed; nothing is found by no words.
    """
    wanted = words.lower().split()

    def fits(*texts: str) -> bool:
        return bool(wanted) and holds(" ".join(texts), wanted)

    convoys = (
        one for one in newest_first(view.state) if fits(one.name, one.title, one.text)
    )
    tasks = (
        (convoy, task)
        for convoy, task in all_tasks(view.state)
        if fits(
            f"{convoy.name} task {task.number}",
            *(task.spec.title, task.spec.instructions, task.spec.engine, task.why),
            *task.spec.paths,
            *task.touched,
        )
    )
    lines = (line for line in reversed(known) if fits(line.convoy, line.text))
    return {
        "words": words,
        "convoys": tuple(islice(convoys, SHOWN)),
        "tasks": tuple(islice(tasks, SHOWN)),
        "interventions": tuple(
            one for one in waiting(view) if fits(one.convoy, one.why)
        )[:SHOWN],
        "lines": tuple(islice(lines, SHOWN)),
    }
