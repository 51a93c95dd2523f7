"""Find the convoy and the task that a person means, or is about to name.

A shell completes names from the log. Only what it leaves alone is given: a name that
somebody else chose is never read as a command. A fault gives no names, and is not told:
somebody is in the middle of a line.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from convoy.model import ids
from convoy.model.state import Convoy, State, Task
from convoy.text import did_you_mean
from grite.errors import BratError


def convoy_named(state: State, name: str) -> Convoy:
    if name not in state.convoys:
        near = did_you_mean(name, state.convoys)
        raise BratError(f"there is no convoy {name}{near or '; see `brat status`'}")
    return state.convoys[name]


def live_or_named(state: State, name: str | None) -> Convoy:
    """Return the named convoy; without a name, the live convoy, else the last."""
    if name is not None:
        return convoy_named(state, name)
    live = [convoy.name for convoy in state.live()]
    return state.convoys[only_one(live, [*state.convoys], "there are no convoys yet")]


def only_one(live: Sequence[str], every: Sequence[str], none: str) -> str:
    """Return the only convoy that has not ended, else the last; `none` says why not."""
    if len(live) > 1:
        which = ", ".join(live)
        raise BratError(
            f"several convoys are in progress ({which}): choose one with --convoy"
        )
    if not every:
        raise BratError(none)
    return live[0] if live else every[-1]


def task_in(convoy: Convoy, number: int) -> Task:
    task = convoy.task(number)
    if task is None:
        there = ", ".join(str(each.number) for each in convoy.tasks) or "none yet"
        raise BratError(f"{convoy.name} has no task {number}; its tasks: {there}")
    return task


def session_names(state: State) -> Iterator[str]:
    """Yield the name of every session there ever was, the newest convoy's first."""
    for convoy in state.convoys.newest_first():
        for task in convoy.spenders:
            for attempt in range(task.started, 0, -1):
                yield ids.session_name(convoy.name, task.number, attempt)


MOST: Final = 500
_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")


def known_names(kind: str, repo: Path, convoy: str | None) -> list[str]:
    """Return the names of this kind in a repository's log, at most `MOST`."""
    with suppress(Exception):  # a line is being typed
        from brat.repository.log_reader import Reader, log_repository

        state = Reader(log_repository(repo.expanduser())).read()
        names = dict.fromkeys(_names(kind, state, convoy))
        return [name for name in names if _PLAIN.fullmatch(name)][:MOST]
    return []


def _names(kind: str, state: State, convoy: str | None) -> Iterator[str]:
    """Yield them; tasks are those of the named convoy, else of all that go on."""
    if kind == "sessions":
        yield from session_names(state)
    if kind in ("tasks", "subjects"):
        named = (each for each in state.convoys.values() if each.name == convoy)
        for each in named if convoy else state.live():
            yield from (str(task.number) for task in each.tasks)
    if kind in ("convoys", "subjects"):
        yield from reversed(state.convoys)
