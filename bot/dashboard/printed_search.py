"""Finds words in what the newest sessions printed."""

import asyncio
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from msgspec import Struct

from bot.dashboard.dashboard_source import DashboardSource, Output, newest_session
from bot.dashboard.lists import SHOWN, all_tasks, holds
from convoy.model.state import Convoy, State, Task

SESSIONS: Final = 200
"""So many tasks' newest sessions are searched: those of the newest convoys."""
LINES: Final = 3
"""Of each session so many lines are shown, the last first."""


class Printed(Struct, frozen=True, kw_only=True):
    """What a task's newest session printed that holds the words."""

    convoy: Convoy
    task: Task
    lines: tuple[str, ...]
    """The last first."""


async def printed(
    source: DashboardSource, state: State, words: str
) -> tuple[Printed, ...]:
    """Return the sessions with lines that hold all of the words, the newest first.

    Args:
        source: the repository; where outputs are elsewhere, nothing is found.
        state: what the log says.
        words: what somebody typed; nothing is found by no words.
    """
    wanted = words.lower().split()
    output = source.output
    if output is None or not source.output_is_here or not wanted:
        return ()
    tried = (each for each in all_tasks(state) if each[1].newest_run is not None)
    newest = tuple(islice(tried, SESSIONS))
    return await asyncio.to_thread(
        lambda: tuple(islice(_found(output, newest, wanted), SHOWN))
    )


def _found(
    output: Output, tried: Sequence[tuple[Convoy, Task]], wanted: list[str]
) -> Iterator[Printed]:
    for convoy, task in tried:
        text = output(newest_session(convoy, task))
        lines = (line for line in reversed(text.splitlines()) if holds(line, wanted))
        if shown := tuple(islice(lines, LINES)):
            yield Printed(convoy=convoy, task=task, lines=shown)
