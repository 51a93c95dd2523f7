"""Find the convoy and the task that a person means."""

from collections.abc import Iterator

from convoy.model import ids
from convoy.model.state import Convoy, State, Task
from convoy.text import did_you_mean
from grite.errors import BratError


def convoy_named(state: State, name: str) -> Convoy:
    """Return the convoy with the given name.

    Raises:
        BratError: there is none; the message suggests the nearest name.
    """
    if name not in state.convoys:
        near = did_you_mean(name, state.convoys)
        raise BratError(f"there is no convoy {name}{near or '; see `brat status`'}")
    return state.convoys[name]


def live_or_named(state: State, name: str | None) -> Convoy:
    """Return the named convoy; without a name, the live convoy, else the last.

    Raises:
        BratError: there is no such convoy, or no name and several live convoys.
    """
    if name is not None:
        return convoy_named(state, name)
    live = tuple(state.live())
    if len(live) > 1:
        which = ", ".join(convoy.name for convoy in live)
        raise BratError(f"say which convoy with --convoy; not ended are: {which}")
    if not state.convoys:
        raise BratError("there is no convoy yet")
    return live[0] if live else [*state.convoys.values()][-1]


def task_in(convoy: Convoy, number: int) -> Task:
    """Return a task of the convoy.

    Raises:
        BratError: no task has that number; the message lists the numbers.
    """
    task = convoy.task(number)
    if task is None:
        there = ", ".join(str(each.number) for each in convoy.tasks) or "none yet"
        raise BratError(f"{convoy.name} has no task {number}; its tasks: {there}")
    return task


def session_names(state: State) -> Iterator[str]:
    """Yield the name of every session there ever was, the newest convoy's first."""
    for convoy in reversed(state.convoys.values()):
        for task in convoy.spenders:
            for attempt in range(task.started, 0, -1):
                yield ids.session_name(convoy.name, task.number, attempt)


def run_of(task: Task) -> int:
    """Return the workflow run of the task's newest session.

    Raises:
        BratError: the task has had no session.
    """
    if task.newest_run is None:
        raise BratError(f"task {task.number} has had no session yet")
    return task.newest_run
