"""What a dashboard is of: where it reads, and where its buttons go."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.dashboard.news import Here, nothing_here
from convoy.commands import Command
from convoy.decide import Refusal
from convoy.following import Reading
from convoy.state import Convoy, Task
from convoy.told.timeline import Line

Ask = Callable[[Command], Awaitable[Refusal | None]]
Output = Callable[[Convoy, Task], str]
"""Gives the end of what a task's newest session printed so far; may block."""


@dataclass(frozen=True, kw_only=True)
class House:
    """One repository, as the dashboard sees it."""

    repository: str
    """Its full name, or what people call it."""
    read: Callable[[], Reading]
    """Gives what the log says now; may block."""
    log: Callable[[int], tuple[Line, ...]]
    """Gives the log's last so many lines; may block."""
    clock: Callable[[], int]
    """Now, unix ms."""
    here: Here = nothing_here
    """Gives what waits for a person beside what the log says."""
    output: Output | None = None
    """What sessions print; None: only the forge's own page shows it."""
    web: str = ""
    """Where the forge shows the repository to people; empty: nowhere."""
    ask: Ask | None = None
    """Puts a command to the rules; None: this dashboard only shows."""
    base: str = ""
    """What stands before each path; empty: this is the only repository."""
    token: str = ""
    """What a person must show to press a button."""

    async def printed(self, convoy: Convoy, task: Task) -> str:
        """Return the end of what a task's newest session printed; empty: nothing."""
        if task.newest_run is None or self.output is None:
            return ""
        return await asyncio.to_thread(self.output, convoy, task)
